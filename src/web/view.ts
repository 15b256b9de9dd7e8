/**
 * Loads the data for each view from the public API: on the server for the first view, and in the
 * browser for later views. This module never touches HTML or the DOM.
 */
import type {
  AchievementEntry,
  CompanySearchResult,
  User,
  UserSearchResult,
} from "../domain/model.ts";
import { isTooLong } from "../search/tiers.ts";

export type View =
  | {
      kind: "start";
      featured: User[];
      /** The number of public drivers and the number of companies; undefined if unknown. */
      counts: { drivers: number; companies: number } | undefined;
    }
  | {
      kind: "results";
      query: string;
      drivers: FoundDriver[];
      /** Undefined if the rate limit allowed only the driver search. */
      companies: CompanySearchResult[] | undefined;
      /** How many more page searches the rate limit allows; undefined if there is no limit. */
      searchesLeft: number | undefined;
      retryAfterSeconds?: number;
    }
  | { kind: "driver"; user: User; achievements: AchievementEntry[] }
  | { kind: "problem"; problem: Problem; query: string; retryAfterSeconds?: number };

/**
 * A driver in search results. `created_at` is set if another driver has the same name and company.
 */
export type FoundDriver = UserSearchResult & { created_at?: string };

/** The API returns at most this many drivers or companies. */
export const MAX_FOUND = 10;

export type Problem = "short" | "private" | "unknown" | "limited" | "offline" | "broken";

/** Requests an API path, such as `/users/public/42`. */
export type FetchApi = (path: string) => Promise<Response>;

/** Each search on the page sends one request for drivers and one for companies. */
const REQUESTS_PER_SEARCH = 2;

const LIMITED = 429;

export interface PageUrl {
  /** The path, such as `/drivers/42`. */
  path: string;
  /** The text to search for, as typed; empty for the start page. */
  query: string;
}

/** Earlier results of a search. Only drivers' ids are kept, because profiles may become private. */
export interface KnownResults {
  driverIds: readonly number[];
  companies: readonly CompanySearchResult[] | undefined;
}

/**
 * Loads the view for a page URL. If `known` is given, no search is used up: the profiles of its
 * drivers are loaded instead, leaving out drivers who have become private. Never rejects.
 */
export async function loadView(
  { path, query }: PageUrl,
  featuredIds: readonly number[],
  fetchApi: FetchApi,
  known?: KnownResults,
): Promise<View> {
  try {
    const [, id] = /^\/drivers\/([^/]+)$/.exec(path) ?? [];
    if (id !== undefined) return await loadDriver(id, fetchApi);
    if (query.trim() === "") return await loadStart(featuredIds, fetchApi);
    return await (known ? reloadResults(query, known, fetchApi) : loadResults(query, fetchApi));
  } catch {
    return { kind: "problem", problem: "offline", query };
  }
}

async function loadStart(featuredIds: readonly number[], fetchApi: FetchApi): Promise<View> {
  const [featured, health] = await Promise.all([
    loadPublicUsers(featuredIds, fetchApi),
    fetchApi("/health"),
  ]);
  const { public_users, companies } = health.ok ? (await health.json()).snapshot.counts : {};
  const counts = health.ok ? { drivers: public_users, companies } : undefined;
  return { kind: "start", featured, counts };
}

/** Loads the profiles of the users who are public. Rejects on a server error. */
async function loadPublicUsers(ids: readonly number[], fetchApi: FetchApi): Promise<User[]> {
  const responses = await Promise.all(ids.map((id) => fetchApi(`/users/public/${id}`)));
  const failed = responses.find(({ status }) => status >= 500);
  if (failed) throw new Error(`status ${failed.status}`);
  const bodies = await Promise.all(
    responses.map(async (response) => (response.ok ? [(await response.json()).user] : [])),
  );
  return bodies.flat();
}

async function reloadResults(
  query: string,
  known: KnownResults,
  fetchApi: FetchApi,
): Promise<View> {
  const users = await loadPublicUsers(known.driverIds, fetchApi);
  const drivers = users.map(({ id, name, avatar_url, company }) => {
    return { id, name, avatar_url, company: company?.name ?? null };
  });
  return {
    kind: "results",
    query,
    drivers: addJoinDates(drivers, users),
    companies: known.companies && [...known.companies],
    searchesLeft: undefined,
  };
}

async function loadResults(query: string, fetchApi: FetchApi): Promise<View> {
  if (!isTooLong(query) && [...query.normalize("NFC").trim()].length < 2) {
    return { kind: "problem", problem: "short", query };
  }
  const q = encodeURIComponent(query);
  // The requests run in sequence, because the limit could reject either of two concurrent ones.
  const drivers = await fetchApi(`/search/users?q=${q}`);
  if (!drivers.ok) return problemOf(drivers, query);
  const companies = await fetchApi(`/search/companies?q=${q}`);
  if (!companies.ok && companies.status !== LIMITED) return problemOf(companies, query);
  const remaining = companies.headers.get("x-ratelimit-remaining");
  const { users } = await drivers.json();
  // Loading profiles does not count against the limit.
  const namesakes = listNamesakes(users);
  const profiles = await loadPublicUsers(
    namesakes.map(({ id }) => id),
    fetchApi,
  );
  return {
    kind: "results",
    query,
    drivers: addJoinDates(users, profiles),
    companies: companies.ok ? (await companies.json()).companies : undefined,
    searchesLeft: remaining === null ? undefined : Math.ceil(+remaining / REQUESTS_PER_SEARCH),
    retryAfterSeconds: retryAfterOf(companies),
  };
}

/** The drivers who share their name and company with another driver in the list. */
function listNamesakes(drivers: UserSearchResult[]): UserSearchResult[] {
  const byName = Map.groupBy(drivers, ({ name, company }) => JSON.stringify([name, company]));
  return [...byName.values()].filter((same) => same.length > 1).flat();
}

/** Adds the join date, taken from the profile, to drivers who share their name and company. */
function addJoinDates(drivers: UserSearchResult[], profiles: readonly User[]): FoundDriver[] {
  const namesakes = new Set(listNamesakes(drivers));
  const joined = new Map(profiles.map(({ id, created_at }) => [id, created_at]));
  return drivers.map((driver) => {
    const created_at = namesakes.has(driver) ? joined.get(driver.id) : undefined;
    return created_at === undefined ? driver : { ...driver, created_at };
  });
}

async function loadDriver(id: string, fetchApi: FetchApi): Promise<View> {
  if (!/^[1-9]\d*$/.test(id)) return { kind: "problem", problem: "unknown", query: "" };
  const profile = await fetchApi(`/users/public/${id}`);
  if (!profile.ok) return problemOf(profile, "");
  const unlocked = await fetchApi(`/users/${id}/achievements`);
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
  // The API responds with 400 to an invalid id or to a query that is too short.
  const problem = problems[status] ?? (status !== 400 ? "broken" : query ? "short" : "unknown");
  return { kind: "problem", problem, query, retryAfterSeconds: retryAfterOf(response) };
}

function retryAfterOf({ headers }: Response): number {
  return Number(headers.get("retry-after") ?? 0);
}
