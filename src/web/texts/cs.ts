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
  noCompany: "Nezávislý",
  members: plural({ one: "# člen", few: "# členové", other: "# členů" }),
  resultsFor: (query) => `Výsledky pro „${query}“`,
  driverCount: plural({ one: "# řidič", few: "# řidiči", other: "# řidičů" }),
  companyCount: plural({ one: "# firma", few: "# firmy", other: "# firem" }),
  searchesLeft: plural({
    one: "V této hodině zbývá # hledání",
    few: "V této hodině zbývají # hledání",
    other: "V této hodině zbývá # hledání",
  }),
  noDrivers: "Žádný řidič to nemá ve jméně.",
  noCompanies: "Žádná firma to nemá v názvu.",
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
      advice: "Z této adresy už byla prozatím vyčerpána všechna hledání. Profily se dál otevírají.",
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
  waitMinutes: plural({
    one: "Další hledání za # minutu.",
    few: "Další hledání za # minuty.",
    other: "Další hledání za # minut.",
  }),
  tryAgain: "Zkusit znovu",
};
