/** The page's texts in French, which address the reader as “vous”. */
import { pluralsOf } from "../plural.ts";
import type { Texts } from "./en.ts";

const plural = pluralsOf("fr");

export const fr: Texts = {
  title: "Qui est sur la route",
  driversOf: (title) => `Les conducteurs de ${title}`,
  description: "Trouvez des conducteurs et des entreprises, et découvrez leurs succès.",
  searchLabel: "Conducteur ou entreprise",
  searchHint: "Partie du nom",
  searchButton: "Chercher",
  toStart: "accueil",
  skipToContent: "Aller au contenu",
  drivers: "Conducteurs",
  companies: "Entreprises",
  featured: "Conducteurs à l’honneur",
  members: plural({ one: "# membre", many: "# de membres", other: "# membres" }),
  resultsFor: (query) => `Résultats pour «\u00a0${query}\u00a0»`,
  driverCount: plural({ one: "# conducteur", many: "# de conducteurs", other: "# conducteurs" }),
  firstDrivers: "Les 10 premiers conducteurs",
  companyCount: plural({ one: "# entreprise", many: "# d’entreprises", other: "# entreprises" }),
  firstCompanies: "les 10 premières entreprises",
  searchesLeft: plural({
    one: "# recherche restante",
    many: "# de recherches restantes",
    other: "# recherches restantes",
  }),
  roles: "Rôles",
  memberSince: "Membre depuis le",
  achievements: "Succès",
  allAchievements: (count) => `Afficher les ${count} succès`,
  noAchievements: "Pas encore de succès, mais la route est longue.",
  totalPoints: "Points",
  points: plural({ one: "# point", many: "# de points", other: "# points" }),
  tier: (tier) => `Niveau ${tier}`,
  tierOf: (tier, tiers) => `Niveau ${tier} sur ${tiers}`,
  fullProfile: "Profil complet",
  spaceKey: "Espace",
  backspaceKey: "Effacer",
  scriptHint: "Les noms dans d’autres alphabets aussi\u00a0: «\u00a0ivanov\u00a0» trouve Иванов.",
  dataFrom: (date) => `Données du ${date}`,
  api: "API pour les développeurs",
  problems: {
    nothing: [
      "Personne ne porte ce nom",
      "Essayez avec moins de lettres ou une autre partie du nom. Peu importent les accents, les majuscules et l’alphabet\u00a0: «\u00a0ivanov\u00a0» trouve Иванов.",
    ],
    short: ["Une lettre ne suffit pas", "Saisissez au moins deux caractères."],
    private: [
      "Ce conducteur préfère rester discret",
      "Son profil est privé. Lui seul peut le rendre public.",
    ],
    unknown: [
      "Conducteur introuvable",
      "L’adresse est peut-être mal écrite, ou le conducteur a quitté la communauté. Essayez de le chercher par son nom.",
    ],
    limited: [
      "C’est l’heure de la pause",
      "Vous avez épuisé vos recherches pour le moment. Vous pouvez toujours consulter les profils.",
    ],
    nowhere: [
      "Il n’y a rien ici",
      "L’adresse est peut-être mal écrite. Essayez de chercher par nom.",
    ],
  },
  wait: (time) => `Prochaine recherche dans ${time}.`,
  tryAgain: "Réessayer",
  otherDrivers: "Voir d’autres conducteurs",
};
