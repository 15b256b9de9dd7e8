/** The texts of the page in French. */
import { pluralsOf } from "../plural.ts";
import type { Texts } from "./en.ts";

const plural = pluralsOf("fr");

export const fr: Texts = {
  title: "Qui est sur la route",
  description: "Trouvez des conducteurs et des entreprises, et voyez leurs succès.",
  searchLabel: "Trouver un conducteur ou une entreprise",
  searchHint: "Partie du nom",
  searchButton: "Chercher",
  toStart: "Accueil",
  skipToContent: "Aller au contenu",
  drivers: "Conducteurs",
  companies: "Entreprises",
  featured: "Conducteurs remarquables",
  members: plural({ one: "# membre", many: "# de membres", other: "# membres" }),
  resultsFor: (query) => `Résultats pour «\u00a0${query}\u00a0»`,
  driverCount: plural({ one: "# conducteur", many: "# de conducteurs", other: "# conducteurs" }),
  closestDrivers: "Les 10 conducteurs les plus proches",
  companyCount: plural({ one: "# entreprise", many: "# d’entreprises", other: "# entreprises" }),
  closestCompanies: "les 10 entreprises les plus proches",
  searchesLeft: plural({
    one: "Encore # recherche",
    many: "Encore # de recherches",
    other: "Encore # recherches",
  }),
  noDrivers: "Aucun conducteur n’a cela dans son nom.",
  noCompanies: "Aucune entreprise n’a cela dans son nom.",
  limitedCompanies: "Vos recherches sont épuisées pour le moment, les entreprises manquent donc.",
  roles: "Rôles",
  memberSince: "Membre depuis le",
  achievements: "Succès",
  noAchievements: "Pas encore de succès\u00a0: la route est encore longue.",
  totalPoints: "Points",
  points: plural({ one: "# point", many: "# de points", other: "# points" }),
  tier: (tier) => `Niveau ${tier}`,
  api: "Pour les développeurs\u00a0: l’API",
  problems: {
    nothing: {
      heading: "Personne de ce nom",
      advice:
        "Essayez avec moins de lettres ou une autre partie du nom. Les accents, les majuscules et l’alphabet ne comptent pas\u00a0: «\u00a0ivanov\u00a0» trouve Иванов.",
    },
    short: {
      heading: "Une lettre ne suffit pas",
      advice: "Saisissez au moins deux caractères du nom.",
    },
    private: {
      heading: "Ce profil est privé",
      advice: "Seul le conducteur peut changer cela.",
    },
    unknown: {
      heading: "Ce conducteur n’existe pas",
      advice:
        "L’adresse est peut-être mal écrite, ou le conducteur est parti. Cherchez plutôt par nom.",
    },
    limited: {
      heading: "C’est l’heure de la pause",
      advice: "Vos recherches sont épuisées pour le moment. Les profils restent accessibles.",
    },
    offline: {
      heading: "Le serveur ne répond pas",
      advice: "Vérifiez la connexion, puis réessayez. Votre saisie reste en place.",
    },
    broken: {
      heading: "Une erreur s’est produite",
      advice: "Réessayez dans un instant.",
    },
  },
  wait: (time) => `Nouvelle recherche dans ${time}.`,
  tryAgain: "Réessayer",
  otherDrivers: "Voir d’autres conducteurs",
};
