/** The texts of the page in German. */
import { pluralsOf } from "../plural.ts";
import type { Texts } from "./en.ts";

const plural = pluralsOf("de");

export const de: Texts = {
  title: "Wer unterwegs ist",
  description: "Fahrer und Firmen finden und sehen, was sie erreicht haben.",
  searchLabel: "Fahrer oder Firma finden",
  searchHint: "Teil eines Namens",
  searchButton: "Suchen",
  toStart: "Start",
  skipToContent: "Zum Inhalt",
  drivers: "Fahrer",
  companies: "Firmen",
  featured: "Bekannte Fahrer",
  members: plural({ one: "# Mitglied", other: "# Mitglieder" }),
  resultsFor: (query) => `Ergebnisse für „${query}“`,
  driverCount: plural({ one: "# Fahrer", other: "# Fahrer" }),
  closestDrivers: "Die 10 ähnlichsten Fahrer",
  companyCount: plural({ one: "# Firma", other: "# Firmen" }),
  closestCompanies: "die 10 ähnlichsten Firmen",
  searchesLeft: plural({ one: "noch # Suche", other: "noch # Suchen" }),
  noDrivers: "Kein Fahrer hat das im Namen.",
  noCompanies: "Keine Firma hat das im Namen.",
  limitedCompanies: "Die Suchen sind vorerst aufgebraucht, deshalb fehlen die Firmen.",
  roles: "Rollen",
  memberSince: "Dabei seit",
  achievements: "Erfolge",
  noAchievements: "Noch keine Erfolge: Der Weg liegt noch vor uns.",
  totalPoints: "Punkte",
  points: plural({ one: "# Punkt", other: "# Punkte" }),
  tier: (tier) => `Stufe ${tier}`,
  api: "Für Entwickler: die API",
  problems: {
    nothing: {
      heading: "Niemand mit diesem Namen",
      advice:
        "Weniger Buchstaben oder ein anderer Teil des Namens helfen. Akzente, Großschreibung und Schrift sind egal: „ivanov“ findet Иванов.",
    },
    short: {
      heading: "Ein Buchstabe ist zu wenig",
      advice: "Bitte mindestens zwei Zeichen des Namens eingeben.",
    },
    private: {
      heading: "Dieses Profil ist privat",
      advice: "Nur der Fahrer selbst kann das ändern.",
    },
    unknown: {
      heading: "Diesen Fahrer gibt es nicht",
      advice:
        "Die Adresse ist vielleicht vertippt, oder der Fahrer ist nicht mehr dabei. Besser nach dem Namen suchen.",
    },
    limited: {
      heading: "Zeit für eine Pause",
      advice: "Die Suchen sind vorerst aufgebraucht. Profile öffnen sich weiterhin.",
    },
    offline: {
      heading: "Der Server antwortet nicht",
      advice: "Bitte die Verbindung prüfen und noch einmal versuchen. Die Eingabe bleibt stehen.",
    },
    broken: {
      heading: "Hier ging etwas schief",
      advice: "Bitte gleich noch einmal versuchen.",
    },
  },
  wait: (time) => `Neue Suche in ${time}.`,
  tryAgain: "Noch einmal",
  otherDrivers: "Andere Fahrer ansehen",
};
