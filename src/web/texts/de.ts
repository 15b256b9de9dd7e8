/** The page's texts in German, which address the reader as “du”. */
import { pluralsOf } from "../plural.ts";
import type { Texts } from "./en.ts";

const plural = pluralsOf("de");

export const de: Texts = {
  title: "Wer unterwegs ist",
  driversOf: (title) => `Die Fahrer von ${title}`,
  description: "Finde Fahrer und Firmen und sieh dir an, was sie erreicht haben.",
  searchLabel: "Fahrer oder Firma suchen",
  searchHint: "Teil des Namens",
  searchButton: "Suchen",
  toStart: "Startseite",
  skipToContent: "Zum Inhalt springen",
  drivers: "Fahrer",
  companies: "Firmen",
  featured: "Ausgewählte Fahrer",
  members: plural({ one: "# Mitglied", other: "# Mitglieder" }),
  resultsFor: (query) => `Ergebnisse für „${query}“`,
  driverCount: plural({ one: "# Fahrer", other: "# Fahrer" }),
  firstDrivers: "Die ersten 10 Fahrer",
  companyCount: plural({ one: "# Firma", other: "# Firmen" }),
  firstCompanies: "die ersten 10 Firmen",
  searchesLeft: plural({ one: "noch # Suche", other: "noch # Suchen" }),
  roles: "Rollen",
  memberSince: "Dabei seit",
  achievements: "Erfolge",
  allAchievements: (count) => `Alle ${count} Erfolge zeigen`,
  noAchievements: "Noch keine Erfolge. Aber die Straße ist ja noch lang.",
  totalPoints: "Punkte",
  points: plural({ one: "# Punkt", other: "# Punkte" }),
  tier: (tier) => `Stufe ${tier}`,
  tierOf: (tier, tiers) => `Stufe ${tier} von ${tiers}`,
  fullProfile: "Vollständiges Profil",
  spaceKey: "Leerzeichen",
  backspaceKey: "Löschen",
  scriptHint: "Auch Namen in anderen Alphabeten: „ivanov“ findet Иванов.",
  dataFrom: (date) => `Stand: ${date}`,
  api: "API für Entwickler",
  problems: {
    nothing: {
      heading: "So heißt hier niemand",
      advice:
        "Versuch es mit weniger Buchstaben oder einem anderen Teil des Namens. Akzente, Groß- und Kleinschreibung und Alphabet spielen keine Rolle: „ivanov“ findet Иванов.",
    },
    short: {
      heading: "Ein Buchstabe ist zu wenig",
      advice: "Gib mindestens zwei Zeichen ein.",
    },
    private: {
      heading: "Dieser Fahrer bleibt lieber für sich",
      advice: "Das Profil ist privat. Nur der Fahrer selbst kann das ändern.",
    },
    unknown: {
      heading: "Diesen Fahrer gibt es hier nicht",
      advice:
        "Vielleicht ist die Adresse falsch geschrieben, oder der Fahrer ist nicht mehr dabei. Such am besten nach dem Namen.",
    },
    limited: {
      heading: "Zeit für eine Pause",
      advice: "Du hast deine Suchen vorerst aufgebraucht. Profile kannst du weiterhin öffnen.",
    },
    nowhere: {
      heading: "Hier ist nichts",
      advice: "Vielleicht ist die Adresse falsch geschrieben. Such am besten nach einem Namen.",
    },
    broken: {
      heading: "Da ist etwas schiefgelaufen",
      advice: "Versuch es gleich noch einmal.",
    },
  },
  wait: (time) => `Nächste Suche in ${time}.`,
  tryAgain: "Noch einmal versuchen",
  otherDrivers: "Andere Fahrer ansehen",
};
