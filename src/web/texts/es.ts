/** The page's texts in Spanish, which address the reader as “tú”. */
import { pluralsOf } from "../plural.ts";
import type { Texts } from "./en.ts";

const plural = pluralsOf("es");

export const es: Texts = {
  title: "Quién está en ruta",
  driversOf: (title) => `Los conductores de ${title}`,
  description: "Encuentra conductores y empresas, y descubre sus logros.",
  searchLabel: "Buscar conductor o empresa",
  searchHint: "Parte del nombre",
  searchButton: "Buscar",
  toStart: "inicio",
  skipToContent: "Ir al contenido",
  drivers: "Conductores",
  companies: "Empresas",
  featured: "Conductores destacados",
  members: plural({ one: "# miembro", many: "# de miembros", other: "# miembros" }),
  resultsFor: (query) => `Resultados de «${query}»`,
  driverCount: plural({ one: "# conductor", many: "# de conductores", other: "# conductores" }),
  firstDrivers: "Los 10 primeros conductores",
  companyCount: plural({ one: "# empresa", many: "# de empresas", other: "# empresas" }),
  firstCompanies: "las 10 primeras empresas",
  searchesLeft: plural({
    one: "queda # búsqueda",
    many: "quedan # de búsquedas",
    other: "quedan # búsquedas",
  }),
  roles: "Roles",
  memberSince: "Miembro desde el",
  achievements: "Logros",
  allAchievements: (count) => `Ver los ${count} logros`,
  noAchievements: "Todavía no hay logros, pero queda mucha carretera por delante.",
  totalPoints: "Puntos",
  points: plural({ one: "# punto", many: "# de puntos", other: "# puntos" }),
  tier: (tier) => `Nivel ${tier}`,
  tierOf: (tier, tiers) => `Nivel ${tier} de ${tiers}`,
  fullProfile: "Perfil completo",
  spaceKey: "Espacio",
  backspaceKey: "Borrar",
  scriptHint: "También nombres en otros alfabetos: «ivanov» encuentra Иванов.",
  dataFrom: (date) => `Datos del ${date}`,
  api: "API para desarrolladores",
  problems: {
    nothing: [
      "Nadie se llama así",
      "Prueba con menos letras o con otra parte del nombre. No importan los acentos, las mayúsculas ni el alfabeto: «ivanov» encuentra Иванов.",
    ],
    short: ["Con una letra no basta", "Escribe al menos dos caracteres."],
    private: [
      "Este conductor prefiere la discreción",
      "Su perfil es privado. Solo el propio conductor puede hacerlo público.",
    ],
    unknown: [
      "Ese conductor no existe",
      "Puede que la dirección esté mal escrita o que el conductor ya no esté en la comunidad. Prueba a buscarlo por su nombre.",
    ],
    limited: [
      "Hora de descansar",
      "Por ahora has agotado tus búsquedas. Puedes seguir viendo perfiles.",
    ],
    nowhere: [
      "Aquí no hay nada",
      "Puede que la dirección esté mal escrita. Prueba a buscar por nombre.",
    ],
  },
  wait: (time) => `Próxima búsqueda en ${time}.`,
  tryAgain: "Reintentar",
  otherDrivers: "Ver a otros conductores",
};
