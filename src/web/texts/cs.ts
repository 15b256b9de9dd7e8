/** The texts of the page in Czech. */
import { pluralsOf } from "../plural.ts";
import type { Texts } from "./en.ts";

const plural = pluralsOf("cs");

export const cs: Texts = {
  title: "Kdo je na cestě",
  description: "Najděte řidiče a firmy a podívejte se, čeho dosáhli.",
  searchLabel: "Najít řidiče nebo firmu",
  searchHint: "Část jména",
  searchButton: "Hledat",
  toStart: "Úvod",
  skipToContent: "Přejít k obsahu",
  drivers: "Řidiči",
  companies: "Firmy",
  featured: "Významní řidiči",
  members: plural({ one: "# člen", few: "# členové", other: "# členů" }),
  resultsFor: (query) => `Výsledky pro „${query}“`,
  driverCount: plural({ one: "# řidič", few: "# řidiči", other: "# řidičů" }),
  closestDrivers: "10 nejpodobnějších řidičů",
  companyCount: plural({ one: "# firma", few: "# firmy", other: "# firem" }),
  closestCompanies: "10 nejpodobnějších firem",
  searchesLeft: plural({
    one: "zbývá # hledání",
    few: "zbývají # hledání",
    other: "zbývá # hledání",
  }),
  noDrivers: "Žádný řidič to nemá ve jméně.",
  noCompanies: "Žádná firma to nemá v názvu.",
  limitedCompanies: "Hledání jsou prozatím vyčerpána, proto chybí firmy.",
  roles: "Role",
  memberSince: "Členem od",
  achievements: "Úspěchy",
  noAchievements: "Zatím žádné úspěchy: cesta je teprve před námi.",
  totalPoints: "Body",
  points: plural({ one: "# bod", few: "# body", other: "# bodů" }),
  tier: (tier) => `Úroveň ${tier}`,
  api: "Pro vývojáře: API",
  problems: {
    nothing: {
      heading: "Nikdo takového jména",
      advice:
        "Zkuste méně písmen nebo jinou část jména. Na diakritice, velikosti písmen ani písmu nezáleží: „ivanov“ najde Иванов.",
    },
    short: {
      heading: "Jedno písmeno je málo",
      advice: "Zadejte alespoň dva znaky jména.",
    },
    private: {
      heading: "Tento profil je soukromý",
      advice: "Změnit to může jen sám řidič.",
    },
    unknown: {
      heading: "Takový řidič tu není",
      advice:
        "Adresa může obsahovat překlep, nebo řidič už odešel. Zkuste ho raději vyhledat podle jména.",
    },
    limited: {
      heading: "Čas na přestávku",
      advice: "Hledání jsou prozatím vyčerpána. Profily se dál otevírají.",
    },
    offline: {
      heading: "Server neodpovídá",
      advice: "Zkontrolujte připojení a zkuste to znovu. Zadaný text zůstane na místě.",
    },
    broken: {
      heading: "Něco se pokazilo",
      advice: "Zkuste to za chvíli znovu.",
    },
  },
  wait: (time) => `Další hledání za ${time}.`,
  tryAgain: "Zkusit znovu",
  otherDrivers: "Zobrazit jiné řidiče",
};
