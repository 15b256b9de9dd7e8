/** Reads the data of each view from a snapshot. This module never touches HTML. */
import type { Texts } from "../domain/languages.ts";
import type { AchievementEntry } from "../domain/model.ts";
import { spellQuery } from "../search/normalize-query.ts";
import type { Snapshot } from "../snapshot/read/reload.ts";

export type StartView = ReturnType<typeof readStart>;
export type ResultsView = ReturnType<typeof readResults> & { query: string };
export type DriverView = Extract<ReturnType<typeof readDriver>, { kind: "driver" }>;
export type CompanyView = Extract<ReturnType<typeof readCompany>, { kind: "company" }>;
export type View = StartView | ResultsView | DriverView | CompanyView | ProblemView;

const DRIVERS_PER_PAGE = 24;

export interface ProblemView {
  kind: "problem";
  problem: Exclude<keyof Texts["problems"], "nothing">;
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
  // Only a kiosk calls the last one, because it reads many names.
  return { kind: "start" as const, featured, needsScriptHint: search.hasLatinSpellings };
}

/** `text` is a query whose white space is collapsed. */
export function readResults({ search }: Snapshot, text: string, baseUrl: string) {
  const queries = spellQuery(text);
  const drivers = search.listUsers(queries, baseUrl);
  return { kind: "results" as const, queries, drivers, companies: search.listCompanies(queries) };
}

/** All achievements are read, newest first. No driver has the id 0. */
export function readDriver({ users }: Snapshot, id: number, showsAll: boolean, baseUrl: string) {
  const user = users.findProfile(id, baseUrl);
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
