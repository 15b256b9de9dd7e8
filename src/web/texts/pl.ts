/** The texts of the page in Polish. */
import { pluralsOf } from "../plural.ts";
import type { Texts } from "./en.ts";

const plural = pluralsOf("pl");

export const pl: Texts = {
  title: "Kto jest w trasie",
  description: "Znajdź kierowców i firmy i zobacz, co osiągnęli.",
  searchLabel: "Znajdź kierowcę lub firmę",
  searchHint: "Część nazwy",
  searchButton: "Szukaj",
  toStart: "Start",
  skipToContent: "Przejdź do treści",
  drivers: "Kierowcy",
  companies: "Firmy",
  featured: "Znani kierowcy",
  members: plural({ one: "# członek", few: "# członków", many: "# członków" }),
  resultsFor: (query) => `Wyniki dla „${query}”`,
  driverCount: plural({ one: "# kierowca", few: "# kierowców", many: "# kierowców" }),
  closestDrivers: "10 najlepiej pasujących kierowców",
  companyCount: plural({ one: "# firma", few: "# firmy", many: "# firm" }),
  closestCompanies: "10 najlepiej pasujących firm",
  searchesLeft: plural({
    one: "Pozostało # wyszukiwanie",
    few: "Pozostały # wyszukiwania",
    many: "Pozostało # wyszukiwań",
  }),
  noDrivers: "Żaden kierowca nie ma tego w nazwie.",
  noCompanies: "Żadna firma nie ma tego w nazwie.",
  limitedCompanies: "Wyszukiwania na razie się skończyły, dlatego brakuje firm.",
  roles: "Role",
  memberSince: "Z nami od",
  achievements: "Osiągnięcia",
  noAchievements: "Jeszcze bez osiągnięć: droga dopiero przed nami.",
  totalPoints: "Punkty",
  points: plural({ one: "# punkt", few: "# punkty", many: "# punktów" }),
  tier: (tier) => `Poziom ${tier}`,
  api: "Dla programistów: API",
  problems: {
    nothing: {
      heading: "Nie ma nikogo o takiej nazwie",
      advice:
        "Spróbuj podać mniej liter albo inną część nazwy. Akcenty, wielkość liter i alfabet nie mają znaczenia: „ivanov” znajdzie Иванов.",
    },
    short: {
      heading: "Jedna litera to za mało",
      advice: "Wpisz co najmniej dwa znaki nazwy.",
    },
    private: {
      heading: "Ten profil jest prywatny",
      advice: "Tylko sam kierowca może to zmienić.",
    },
    unknown: {
      heading: "Nie ma takiego kierowcy",
      advice: "Adres może zawierać błąd albo kierowca już odszedł. Lepiej wyszukaj po nazwie.",
    },
    limited: {
      heading: "Czas na przerwę",
      advice: "Wyszukiwania na razie się skończyły. Profile nadal się otwierają.",
    },
    offline: {
      heading: "Serwer nie odpowiada",
      advice: "Sprawdź połączenie i spróbuj ponownie. Wpisany tekst nie zniknie.",
    },
    broken: {
      heading: "Coś poszło nie tak",
      advice: "Spróbuj ponownie za chwilę.",
    },
  },
  wait: (time) => `Kolejne wyszukiwanie za ${time}.`,
  tryAgain: "Spróbuj ponownie",
  otherDrivers: "Zobacz innych kierowców",
};
