/**
 * What the page shows, as data: read from the public API, by the server for the first page and by the
 * browser for those that follow. No HTML and no DOM here.
 */
import type { AchievementEntry } from "../domain/achievement.ts";
import type { CompanySearchResult } from "../domain/company.ts";
import type { User, UserSearchResult } from "../domain/user.ts";

export type View =
  | {
      kind: "start";
      featured: User[];
      /** Of the drivers who can be found, and of the companies; undefined if the server does not say. */
      counts: { drivers: number; companies: number } | undefined;
    }
  | {
      kind: "results";
      query: string;
      drivers: FoundDriver[];
      /** Undefined when the limit let the search for drivers through, and no more. */
      companies: CompanySearchResult[] | undefined;
      /** Searches of the page that the limit has left; undefined without a limit. */
      searchesLeft: number | undefined;
      retryAfterSeconds?: number;
    }
  | { kind: "driver"; user: User; achievements: AchievementEntry[] }
  | { kind: "problem"; problem: Problem; query: string; retryAfterSeconds?: number };

/** Drivers of the same name and company have the date they joined, which tells them apart. */
export type FoundDriver = UserSearchResult & { created_at?: string };

/** The API finds no more drivers, and no more companies. */
export const MAX_FOUND = 10;

export type Problem = "short" | "private" | "unknown" | "limited" | "offline" | "broken";

/** Asks the API for a path such as `/users/public/42`. */
export type Ask = (path: string) => Promise<Response>;

/** A search of the page is one request for drivers and one for companies. */
const REQUESTS_PER_SEARCH = 2;

const LIMITED = 429;

export interface Address {
  /** Such as `/drivers/42`. */
  path: string;
  /** What is searched, as typed; empty for the start. */
  query: string;
}

/** What a search found, without anything that a driver may have made private since. */
export interface Found {
  driverIds: readonly number[];
  companies: readonly CompanySearchResult[] | undefined;
}

/**
 * Reads what an address of the page shows. With `found`, a search is not spent again: its drivers are
 * asked for as profiles, so that those who have gone private are missing. Never rejects.
 */
export async function loadView(
  { path, query }: Address,
  featuredIds: readonly number[],
  ask: Ask,
  found?: Found,
): Promise<View> {
  try {
    const [, id] = /^\/drivers\/([^/]+)$/.exec(path) ?? [];
    if (id !== undefined) return await loadDriver(id, ask);
    if (query.trim() === "") return await loadStart(featuredIds, ask);
    return found ? await reloadResults(query, found, ask) : await loadResults(query, ask);
  } catch {
    return { kind: "problem", problem: "offline", query };
  }
}

async function loadStart(featuredIds: readonly number[], ask: Ask): Promise<View> {
  const [featured, health] = await Promise.all([listUsers(featuredIds, ask), ask("/health")]);
  const { public_users, companies } = health.ok ? (await health.json()).snapshot.counts : {};
  const counts = health.ok ? { drivers: public_users, companies } : undefined;
  return { kind: "start", featured, counts };
}

/** The profiles of those users who are public. Rejects when the server is in trouble. */
async function listUsers(ids: readonly number[], ask: Ask): Promise<User[]> {
  const responses = await Promise.all(ids.map((id) => ask(`/users/public/${id}`)));
  const failed = responses.find(({ status }) => status >= 500);
  if (failed) throw new Error(`status ${failed.status}`);
  const bodies = await Promise.all(
    responses.map(async (response) => (response.ok ? [(await response.json()).user] : [])),
  );
  return bodies.flat();
}

async function reloadResults(query: string, found: Found, ask: Ask): Promise<View> {
  const users = await listUsers(found.driverIds, ask);
  const drivers = users.map(({ id, name, avatar_url, company }) => {
    return { id, name, avatar_url, company: company?.name ?? null };
  });
  return {
    kind: "results",
    query,
    drivers: tellApart(drivers, users),
    companies: found.companies && [...found.companies],
    searchesLeft: undefined,
  };
}

async function loadResults(query: string, ask: Ask): Promise<View> {
  if ([...query.normalize("NFC").trim()].length < 2) {
    return { kind: "problem", problem: "short", query };
  }
  const q = encodeURIComponent(query);
  // One after the other: of two at once nobody knows which one the limit refuses.
  const drivers = await ask(`/search/users?q=${q}`);
  if (!drivers.ok) return problemOf(drivers, query);
  const companies = await ask(`/search/companies?q=${q}`);
  if (!companies.ok && companies.status !== LIMITED) return problemOf(companies, query);
  const remaining = companies.headers.get("x-ratelimit-remaining");
  const { users } = await drivers.json();
  // A profile is not a search, so it costs nothing to ask for those of namesakes.
  const namesakes = listNamesakes(users);
  const profiles = await listUsers(
    namesakes.map(({ id }) => id),
    ask,
  );
  return {
    kind: "results",
    query,
    drivers: tellApart(users, profiles),
    companies: companies.ok ? (await companies.json()).companies : undefined,
    searchesLeft: remaining === null ? undefined : Math.ceil(+remaining / REQUESTS_PER_SEARCH),
    retryAfterSeconds: retryAfterOf(companies),
  };
}

/** The drivers of whom there is another with the same name and company. */
function listNamesakes(drivers: UserSearchResult[]): UserSearchResult[] {
  const byName = Map.groupBy(drivers, ({ name, company }) => JSON.stringify([name, company]));
  return [...byName.values()].filter((same) => same.length > 1).flat();
}

/** Gives namesakes the date they joined, from their profiles. */
function tellApart(drivers: UserSearchResult[], profiles: readonly User[]): FoundDriver[] {
  const namesakes = new Set(listNamesakes(drivers));
  const joined = new Map(profiles.map(({ id, created_at }) => [id, created_at]));
  return drivers.map((driver) => {
    const created_at = namesakes.has(driver) ? joined.get(driver.id) : undefined;
    return created_at === undefined ? driver : { ...driver, created_at };
  });
}

async function loadDriver(id: string, ask: Ask): Promise<View> {
  if (!/^[1-9]\d*$/.test(id)) return { kind: "problem", problem: "unknown", query: "" };
  const profile = await ask(`/users/public/${id}`);
  if (!profile.ok) return problemOf(profile, "");
  const unlocked = await ask(`/users/${id}/achievements`);
  if (!unlocked.ok) return problemOf(unlocked, "");
  const { user } = await profile.json();
  const { achievements } = await unlocked.json();
  return { kind: "driver", user, achievements };
}

function problemOf(response: Response, query: string): View {
  const { status } = response;
  const problems: Record<number, Problem> = {
    403: "private",
    404: "unknown",
    [LIMITED]: "limited",
  };
  // An address such as /drivers/abc is nobody's, and a query that the API finds too short is short.
  const problem = problems[status] ?? (status !== 400 ? "broken" : query ? "short" : "unknown");
  return { kind: "problem", problem, query, retryAfterSeconds: retryAfterOf(response) };
}

function retryAfterOf({ headers }: Response): number {
  return Number(headers.get("retry-after") ?? 0);
}
