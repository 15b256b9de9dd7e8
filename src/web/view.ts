/** Reads the data of each view from a snapshot. This module never touches HTML. */
import type { AchievementEntry, UserSearchResult } from "../domain/model.ts";
import { spellQuery } from "../search/fold.ts";
import type { Snapshot } from "../snapshot/read/reloadable.ts";
import type { Texts } from "./languages.ts";

export type StartView = ReturnType<typeof readStart>;
export type ResultsView = ReturnType<typeof readResults> & {
  query: string;
  /** How many more searches the limit allows; undefined if there is no limit. */
  searchesLeft: number | undefined;
};
export type DriverView = Extract<ReturnType<typeof readDriver>, { kind: "driver" }>;
export type CompanyView = Extract<ReturnType<typeof readCompany>, { kind: "company" }>;
export type View = StartView | ResultsView | DriverView | CompanyView | ProblemView;

/** How many drivers a company's page shows. */
const DRIVERS_PER_PAGE = 24;

export interface ProblemView {
  kind: "problem";
  /** The API's error code for the same problem. */
  problem: Exclude<keyof Texts["problems"], "nothing">;
  /** The text as typed, if the problem is about a search. */
  query?: string;
  waitSeconds?: number;
}

/** Leaves out featured drivers who have become private. */
export function readStart(data: Snapshot, baseUrl: string, ids?: readonly number[]) {
  const { meta, users, search } = data;
  const featured = (ids ?? meta.featured).flatMap((id) => {
    const user = users.findProfile(id, baseUrl);
    return "missing" in user ? [] : [user];
  });
  // Only a kiosk calls this, because it reads many names.
  const needsScriptHint = search.hasLatinSpellings;
  return { kind: "start" as const, featured, needsScriptHint };
}

/**
 * `text` is a query whose white space is collapsed. If drivers have the same name and company,
 * their join dates are added.
 */
export function readResults({ users, search }: Snapshot, text: string, baseUrl: string) {
  const queries = spellQuery(text);
  const found = search.listUsers(queries, baseUrl);
  const keyOf = ({ name, company }: UserSearchResult) => JSON.stringify([name, company]);
  const namesakes = Map.groupBy(found, keyOf);
  const drivers = found.map((driver): UserSearchResult & { created_at?: string } => {
    if (namesakes.get(keyOf(driver))?.length === 1) return driver;
    const user = users.findProfile(driver.id, baseUrl);
    return "missing" in user ? driver : { ...driver, created_at: user.created_at };
  });
  return { kind: "results" as const, queries, drivers, companies: search.listCompanies(queries) };
}

/** An undefined id is that of an unknown driver. All achievements are read, newest first. */
export function readDriver(
  { users }: Snapshot,
  id: number | undefined,
  showsAll: boolean,
  baseUrl: string,
) {
  const user =
    id === undefined ? { missing: "user_not_found" as const } : users.findProfile(id, baseUrl);
  if ("missing" in user) return { kind: "problem" as const, problem: user.missing };
  const text = users.findAchievements(user.id);
  const achievements: AchievementEntry[] = typeof text === "string" ? JSON.parse(text) : [];
  return { kind: "driver" as const, user, achievements, showsAll };
}

/** Shows the drivers whose ids are above `after`. No company has the id 0. */
export function readCompany({ companies }: Snapshot, id: number, after: number, baseUrl: string) {
  const company = companies.find(id);
  if (!company) return { kind: "problem" as const, problem: "route_not_found" as const };
  // One more shows whether there is another page.
  const found = companies.listDrivers(id, after, DRIVERS_PER_PAGE + 1, baseUrl);
  const drivers = found.slice(0, DRIVERS_PER_PAGE);
  const next = found.length > drivers.length ? drivers.at(-1)?.id : undefined;
  return { kind: "company" as const, company, drivers, after, next };
}
