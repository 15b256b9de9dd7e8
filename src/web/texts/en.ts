/**
 * The page's texts in English. To add a language, create a file like this one and list it in
 * ../texts.ts.
 */
import type { Forms } from "../plural.ts";

export const en = {
  title: "Who is on the road",
  driversOf: (title: string) => `Drivers of ${title}`,
  description: "Find drivers and companies, and see what they have achieved.",
  searchLabel: "Find a driver or company",
  searchHint: "Part of a name",
  searchButton: "Search",
  toStart: "home",
  skipToContent: "Skip to content",
  drivers: "Drivers",
  companies: "Companies",
  featured: "Notable drivers",
  members: { one: "# member", other: "# members" } as Forms,
  resultsFor: (query: string) => `Results for “${query}”`,
  driverCount: { one: "# driver", other: "# drivers" } as Forms,
  firstDrivers: "First 10 drivers",
  companyCount: { one: "# company", other: "# companies" } as Forms,
  firstCompanies: "first 10 companies",
  searchesLeft: { one: "# search left", other: "# searches left" } as Forms,
  roles: "Roles",
  memberSince: "Member since",
  achievements: "Achievements",
  allAchievements: (count: number) => `Show all ${count} achievements`,
  noAchievements: "No achievements yet. The whole road still lies ahead.",
  totalPoints: "Points",
  points: { one: "# point", other: "# points" } as Forms,
  tier: (tier: number) => `Tier ${tier}`,
  tierOf: (tier: number, tiers: number) => `Tier ${tier} of ${tiers}`,
  fullProfile: "Full profile",
  spaceKey: "Space",
  backspaceKey: "Backspace",
  scriptHint: "Names in other alphabets, too: type “ivanov” for Иванов.",
  dataFrom: (date: string) => `Data from ${date}`,
  api: "API for developers",
  problems: {
    nothing: "Nobody by that name",
    invalid_query: "One letter is not enough",
    profile_private: "This driver keeps to themselves",
    user_not_found: "No such driver",
    rate_limited: "Time for a break",
    route_not_found: "There is nothing here",
  },
  advice: {
    nothing:
      "Try fewer letters or another part of the name. Accents, capitals and alphabet make no difference: “ivanov” finds Иванов.",
    invalid_query: "Type at least two characters.",
    profile_private: "The profile is private. Only the driver can change that.",
    user_not_found:
      "The address may be mistyped, or the driver may have left. Try searching by name.",
    rate_limited: "You have used up your searches for now. You can still open profiles.",
    route_not_found: "The address may be mistyped. Try searching by name.",
  },
  wait: (time: string) => `Next search in ${time}.`,
  tryAgain: "Try again",
  otherDrivers: "See other drivers",
};

export type Texts = typeof en;
