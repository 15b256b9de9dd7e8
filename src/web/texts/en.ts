/**
 * The texts of the page in English. Another language is another file like this one, and a line in
 * ../texts.ts.
 */
import { pluralsOf } from "../plural.ts";

const plural = pluralsOf("en");

export const en = {
  title: "Who is on the road",
  description: "Find drivers and companies, and see what they have achieved.",
  searchLabel: "Find a driver or a company",
  searchHint: "Part of a name",
  searchButton: "Search",
  toStart: "Start",
  skipToContent: "Skip to the content",
  drivers: "Drivers",
  companies: "Companies",
  featured: "Notable drivers",
  members: plural({ one: "# member", other: "# members" }),
  resultsFor: (query: string) => `Results for “${query}”`,
  driverCount: plural({ one: "# driver", other: "# drivers" }),
  closestDrivers: "The 10 closest drivers",
  companyCount: plural({ one: "# company", other: "# companies" }),
  closestCompanies: "the 10 closest companies",
  searchesLeft: plural({ one: "# search left", other: "# searches left" }),
  noDrivers: "No driver has this in the name.",
  noCompanies: "No company has this in the name.",
  limitedCompanies: "You have used up your searches for now, so companies are missing.",
  roles: "Roles",
  memberSince: "Member since",
  achievements: "Achievements",
  noAchievements: "No achievements yet: the road is still ahead.",
  totalPoints: "Points",
  points: plural({ one: "# point", other: "# points" }),
  tier: (tier: number) => `Tier ${tier}`,
  api: "For developers: the API",
  problems: {
    nothing: {
      heading: "Nobody by that name",
      advice:
        "Try fewer letters, or another part of the name. Accents, capitals and the script do not matter: “ivanov” finds Иванов.",
    },
    short: {
      heading: "One letter is too little",
      advice: "Type at least two characters of the name.",
    },
    private: {
      heading: "This driver keeps to themselves",
      advice: "The profile is private. Only the driver can change that.",
    },
    unknown: {
      heading: "No such driver",
      advice: "The address may be mistyped, or the driver has left. Search by name instead.",
    },
    limited: {
      heading: "Time for a break",
      advice: "You have used up your searches for now. Profiles still open.",
    },
    offline: {
      heading: "The server does not answer",
      advice: "Check the connection, then try again. What you typed is still here.",
    },
    broken: {
      heading: "Something went wrong here",
      advice: "Try again in a moment.",
    },
  },
  wait: (time: string) => `Search again in ${time}.`,
  tryAgain: "Try again",
  otherDrivers: "See other drivers",
};

export type Texts = typeof en;
