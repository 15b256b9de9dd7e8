/** The texts of the page in Spanish. */
import { pluralsOf } from "../plural.ts";
import type { Texts } from "./en.ts";

const plural = pluralsOf("es");

export const es: Texts = {
  title: "Quién está en la carretera",
  description: "Encuentra conductores y empresas y descubre sus logros.",
  searchLabel: "Buscar un conductor o una empresa",
  searchHint: "Parte de un nombre",
  searchButton: "Buscar",
  toStart: "Inicio",
  skipToContent: "Ir al contenido",
  drivers: "Conductores",
  companies: "Empresas",
  featured: "Conductores destacados",
  members: plural({ one: "# miembro", many: "# de miembros", other: "# miembros" }),
  resultsFor: (query) => `Resultados de «${query}»`,
  driverCount: plural({ one: "# conductor", many: "# de conductores", other: "# conductores" }),
  closestDrivers: "Los 10 conductores más parecidos",
  companyCount: plural({ one: "# empresa", many: "# de empresas", other: "# empresas" }),
  closestCompanies: "las 10 empresas más parecidas",
  searchesLeft: plural({
    one: "Queda # búsqueda",
    many: "Quedan # de búsquedas",
    other: "Quedan # búsquedas",
  }),
  noDrivers: "Ningún conductor lo tiene en el nombre.",
  noCompanies: "Ninguna empresa lo tiene en el nombre.",
  limitedCompanies: "Has agotado tus búsquedas por ahora, por eso faltan las empresas.",
  roles: "Roles",
  memberSince: "Miembro desde el",
  achievements: "Logros",
  noAchievements: "Aún no hay logros: queda camino por recorrer.",
  totalPoints: "Puntos",
  points: plural({ one: "# punto", many: "# de puntos", other: "# puntos" }),
  tier: (tier) => `Nivel ${tier}`,
  api: "Para desarrolladores: la API",
  problems: {
    nothing: {
      heading: "Nadie con ese nombre",
      advice:
        "Prueba con menos letras o con otra parte del nombre. Los acentos, las mayúsculas y el alfabeto no importan: «ivanov» encuentra Иванов.",
    },
    short: {
      heading: "Una letra es muy poco",
      advice: "Escribe al menos dos caracteres del nombre.",
    },
    private: {
      heading: "Este perfil es privado",
      advice: "Solo el propio conductor puede cambiarlo.",
    },
    unknown: {
      heading: "Ese conductor no existe",
      advice:
        "Puede que la dirección esté mal escrita o que el conductor se haya ido. Es mejor buscar por nombre.",
    },
    limited: {
      heading: "Hora de descansar",
      advice: "Has agotado tus búsquedas por ahora. Los perfiles se siguen abriendo.",
    },
    offline: {
      heading: "El servidor no responde",
      advice: "Comprueba la conexión y vuelve a intentarlo. Lo que has escrito sigue ahí.",
    },
    broken: {
      heading: "Algo ha salido mal",
      advice: "Vuelve a intentarlo dentro de un momento.",
    },
  },
  wait: (time) => `Nueva búsqueda en ${time}.`,
  tryAgain: "Reintentar",
  otherDrivers: "Ver otros conductores",
};
