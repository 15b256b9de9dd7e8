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
    nothing: [
      "So heißt hier niemand",
      "Versuch es mit weniger Buchstaben oder einem anderen Teil des Namens. Akzente, Groß- und Kleinschreibung und Alphabet spielen keine Rolle: „ivanov“ findet Иванов.",
    ],
    short: ["Ein Buchstabe ist zu wenig", "Gib mindestens zwei Zeichen ein."],
    private: [
      "Dieser Fahrer bleibt lieber für sich",
      "Das Profil ist privat. Nur der Fahrer selbst kann das ändern.",
    ],
    unknown: [
      "Diesen Fahrer gibt es hier nicht",
      "Vielleicht ist die Adresse falsch geschrieben, oder der Fahrer ist nicht mehr dabei. Such am besten nach dem Namen.",
    ],
    limited: [
      "Zeit für eine Pause",
      "Du hast deine Suchen vorerst aufgebraucht. Profile kannst du weiterhin öffnen.",
    ],
    nowhere: [
      "Hier ist nichts",
      "Vielleicht ist die Adresse falsch geschrieben. Such am besten nach einem Namen.",
    ],
  },
  wait: (time) => `Nächste Suche in ${time}.`,
  tryAgain: "Noch einmal versuchen",
  otherDrivers: "Andere Fahrer ansehen",
};
