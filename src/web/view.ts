/** Reads the data of each view from a snapshot. This module never touches HTML. */
import type {
  AchievementEntry,
  CompanySearchResult,
  User,
  UserSearchResult,
} from "../domain/model.ts";
import type { Snapshot } from "../snapshot/read/open.ts";
import type { Texts } from "./texts/en.ts";

export type View = StartView | ResultsView | DriverView | ProblemView;

export interface StartView {
  kind: "start";
  featured: User[];
  /** The number of public drivers and the number of companies. */
  counts: { drivers: number; companies: number };
}

export interface ResultsView {
  kind: "results";
  /** The text as typed. */
  query: string;
  /** `created_at` is set if another driver has the same name and company. */
  drivers: (UserSearchResult & { created_at?: string })[];
  companies: CompanySearchResult[];
  /** How many more searches the limit allows; undefined if there is no limit. */
  searchesLeft: number | undefined;
}

export interface DriverView {
  kind: "driver";
  user: User;
  /** All achievements, newest first. */
  achievements: AchievementEntry[];
  /** Whether to show all achievements instead of the newest. */
  showsAll: boolean;
}

export interface ProblemView {
  kind: "problem";
  /** The API's error code for the same problem. */
  problem: Exclude<keyof Texts["problems"], "nothing">;
  /** The text as typed, if the problem is about a search. */
  query?: string;
  retryAfterSeconds?: number;
}

/** Leaves out featured drivers who have become private. */
export function readStart(
  { meta, users }: Snapshot,
  featuredIds: readonly number[],
  baseUrl: string,
): StartView {
  const featured = featuredIds.flatMap((id) => {
    const user = users.findProfile(id, baseUrl);
    return "missing" in user ? [] : [user];
  });
  const { public_users: drivers, companies } = meta.counts;
  return { kind: "start", featured, counts: { drivers, companies } };
}

/** Searches for `query`, a normalized text, among the drivers and the companies. */
export function readResults(
  { users, search }: Snapshot,
  query: string,
  baseUrl: string,
): Pick<ResultsView, "drivers" | "companies"> {
  const drivers = search.listUsers(query, baseUrl);
  const keyOf = ({ name, company }: UserSearchResult) => JSON.stringify([name, company]);
  const namesakes = Map.groupBy(drivers, keyOf);
  return {
    drivers: drivers.map((driver) => {
      if (namesakes.get(keyOf(driver))?.length === 1) return driver;
      const user = users.findProfile(driver.id, baseUrl);
      return "missing" in user ? driver : { ...driver, created_at: user.created_at };
    }),
    companies: search.listCompanies(query),
  };
}

/** An undefined id is that of an unknown driver. */
export function readDriver(
  { users }: Snapshot,
  id: number | undefined,
  showsAll: boolean,
  baseUrl: string,
): DriverView | ProblemView {
  if (id === undefined) return { kind: "problem", problem: "user_not_found" };
  const user = users.findProfile(id, baseUrl);
  if ("missing" in user) return { kind: "problem", problem: user.missing };
  const achievements = users.findAchievements(id);
  const entries = typeof achievements === "string" ? JSON.parse(achievements) : [];
  return { kind: "driver", user, achievements: entries, showsAll };
}
