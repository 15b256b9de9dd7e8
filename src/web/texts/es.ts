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
  noCompany: "Independiente",
  members: plural({ one: "# miembro", many: "# de miembros", other: "# miembros" }),
  resultsFor: (query) => `Resultados de «${query}»`,
  driverCount: plural({ one: "# conductor", many: "# de conductores", other: "# conductores" }),
  companyCount: plural({ one: "# empresa", many: "# de empresas", other: "# empresas" }),
  searchesLeft: plural({
    one: "Queda # búsqueda en esta hora",
    many: "Quedan # de búsquedas en esta hora",
    other: "Quedan # búsquedas en esta hora",
  }),
  noDrivers: "Ningún conductor lo tiene en el nombre.",
  noCompanies: "Ninguna empresa lo tiene en el nombre.",
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
      advice:
        "Desde esta dirección ya se han hecho todas las búsquedas por ahora. Los perfiles se siguen abriendo.",
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
  waitMinutes: plural({
    one: "Nueva búsqueda en # minuto.",
    many: "Nueva búsqueda en # de minutos.",
    other: "Nueva búsqueda en # minutos.",
  }),
  tryAgain: "Reintentar",
};
