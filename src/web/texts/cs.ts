/** The page's texts in formal Czech, without past tenses that depend on the reader's gender. */
import { pluralsOf } from "../plural.ts";
import type { Texts } from "./en.ts";

const plural = pluralsOf("cs");

export const cs: Texts = {
  title: "Kdo je na cestách",
  driversOf: (title) => `Řidiči komunity ${title}`,
  description: "Najděte řidiče a firmy a podívejte se, čeho dosáhli.",
  searchLabel: "Najít řidiče nebo firmu",
  searchHint: "Část jména",
  searchButton: "Hledat",
  toStart: "úvodní stránka",
  skipToContent: "Přejít k obsahu",
  drivers: "Řidiči",
  companies: "Firmy",
  featured: "Vybraní řidiči",
  members: plural({ one: "# člen", few: "# členové", other: "# členů" }),
  resultsFor: (query) => `Výsledky pro „${query}“`,
  driverCount: plural({ one: "# řidič", few: "# řidiči", other: "# řidičů" }),
  firstDrivers: "Prvních 10 řidičů",
  companyCount: plural({ one: "# firma", few: "# firmy", other: "# firem" }),
  firstCompanies: "prvních 10 firem",
  searchesLeft: plural({
    one: "zbývá # hledání",
    few: "zbývají # hledání",
    other: "zbývá # hledání",
  }),
  roles: "Role",
  memberSince: "Členem od",
  achievements: "Úspěchy",
  allAchievements: (count) => `Zobrazit všechny úspěchy (${count})`,
  noAchievements: "Zatím žádné úspěchy. Celá cesta je teprve před námi.",
  totalPoints: "Body",
  points: plural({ one: "# bod", few: "# body", other: "# bodů" }),
  tier: (tier) => `Úroveň ${tier}`,
  tierOf: (tier, tiers) => `Úroveň ${tier} z ${tiers}`,
  fullProfile: "Celý profil",
  spaceKey: "Mezera",
  backspaceKey: "Smazat znak",
  scriptHint: "I jména v jiných abecedách: „ivanov“ najde Иванов.",
  dataFrom: (date) => `Data ze dne ${date}`,
  api: "API pro vývojáře",
  problems: {
    nothing: [
      "Nikdo se tak nejmenuje",
      "Zkuste méně písmen nebo jinou část jména. Na diakritice, velikosti písmen ani abecedě nezáleží: „ivanov“ najde Иванов.",
    ],
    short: ["Jedno písmeno nestačí", "Zadejte alespoň dva znaky."],
    private: [
      "Tento řidič si střeží soukromí",
      "Profil je soukromý. Změnit to může jen sám řidič.",
    ],
    unknown: [
      "Takový řidič tu není",
      "V adrese je možná překlep, nebo řidič komunitu opustil. Zkuste ho vyhledat podle jména.",
    ],
    limited: [
      "Čas na přestávku",
      "Limit hledání máte prozatím vyčerpaný. Profily můžete otevírat dál.",
    ],
    nowhere: ["Tady nic není", "V adrese je možná překlep. Zkuste hledat podle jména."],
  },
  wait: (time) => `Další hledání za ${time}.`,
  tryAgain: "Zkusit znovu",
  otherDrivers: "Zobrazit jiné řidiče",
};
