/** The page's texts in informal Polish, without past tenses that depend on the reader's gender. */
import { pluralsOf } from "../plural.ts";
import type { Texts } from "./en.ts";

const plural = pluralsOf("pl");

export const pl: Texts = {
  title: "Kto jest w trasie",
  driversOf: (title) => `Kierowcy społeczności ${title}`,
  description: "Znajdź kierowców i firmy, zobacz ich osiągnięcia.",
  searchLabel: "Znajdź kierowcę lub firmę",
  searchHint: "Część nazwy",
  searchButton: "Szukaj",
  toStart: "strona główna",
  skipToContent: "Przejdź do treści",
  drivers: "Kierowcy",
  companies: "Firmy",
  featured: "Wyróżnieni kierowcy",
  members: plural({ one: "# członek", few: "# członków", many: "# członków" }),
  resultsFor: (query) => `Wyniki dla „${query}”`,
  driverCount: plural({ one: "# kierowca", few: "# kierowców", many: "# kierowców" }),
  firstDrivers: "Pierwszych 10 kierowców",
  companyCount: plural({ one: "# firma", few: "# firmy", many: "# firm" }),
  firstCompanies: "pierwszych 10 firm",
  searchesLeft: plural({
    one: "pozostało # wyszukiwanie",
    few: "pozostały # wyszukiwania",
    many: "pozostało # wyszukiwań",
  }),
  roles: "Role",
  memberSince: "Z nami od",
  achievements: "Osiągnięcia",
  allAchievements: (count) => `Pokaż wszystkie osiągnięcia (${count})`,
  noAchievements: "Na razie bez osiągnięć. Cała droga jeszcze przed nami.",
  totalPoints: "Punkty",
  points: plural({ one: "# punkt", few: "# punkty", many: "# punktów" }),
  tier: (tier) => `Poziom ${tier}`,
  tierOf: (tier, tiers) => `Poziom ${tier} z ${tiers}`,
  fullProfile: "Pełny profil",
  spaceKey: "Spacja",
  backspaceKey: "Usuń znak",
  scriptHint: "Także nazwy w innych alfabetach: „ivanov” znajdzie Иванов.",
  dataFrom: (date) => `Stan na ${date}`,
  api: "API dla programistów",
  problems: {
    nothing: [
      "Nikt się tak nie nazywa",
      "Spróbuj wpisać mniej liter albo inną część nazwy. Ogonki, wielkość liter i alfabet nie mają znaczenia: „ivanov” znajdzie Иванов.",
    ],
    short: ["Jedna litera to za mało", "Wpisz co najmniej dwa znaki."],
    private: [
      "Ten kierowca ceni sobie prywatność",
      "Profil jest prywatny. Tylko sam kierowca może to zmienić.",
    ],
    unknown: [
      "Nie ma takiego kierowcy",
      "Może w adresie jest literówka albo ten kierowca już z nami nie jeździ. Spróbuj wyszukać go po nazwie.",
    ],
    limited: [
      "Czas na przerwę",
      "Limit wyszukiwań jest na razie wyczerpany. Profile nadal możesz otwierać.",
    ],
    nowhere: ["Nic tu nie ma", "Może w adresie jest literówka. Spróbuj wyszukać po nazwie."],
  },
  wait: (time) => `Następne wyszukiwanie za ${time}.`,
  tryAgain: "Spróbuj ponownie",
  otherDrivers: "Zobacz innych kierowców",
};
