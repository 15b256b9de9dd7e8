/** Reads what a page shows from a snapshot. */
import type { AchievementEntry, Stored, User } from "../../domain/model.ts";
import { formatTime } from "../../domain/time.ts";
import type { Snapshot } from "../../snapshot/read/reload.ts";
import type { Site } from "../../web/brand.ts";
import type {
  CompanyView,
  DriverView,
  ProblemView,
  ResultsView,
  StartView,
} from "../../web/page.ts";

const DRIVERS_PER_PAGE = 24;
/** Counting more public members would delay other requests. */
const MAX_COUNTED = 10_000;

/** If everybody is shown, the page begins after the id `after`. */
export function readStart(snapshot: Snapshot, { featured, kiosk }: Site, after: number): StartView {
  const { search, users, meta } = snapshot;
  // Elsewhere, visitors have keyboards of their own.
  const needsScriptHint = kiosk && search.hasOtherScripts();
  if (featured !== "all") {
    const drivers = findUsers(snapshot, featured ?? meta.featured);
    return { kind: "start", drivers, needsScriptHint, after: 0, next: undefined };
  }

  const ids = users.listIds(after, DRIVERS_PER_PAGE + 1);
  return { kind: "start", ...pageOf(findUsers(snapshot, ids)), needsScriptHint, after };
}

/** One more driver than a page shows means that there is another page. */
function pageOf<Driver extends { id: number }>(found: Driver[]) {
  const drivers = found.slice(0, DRIVERS_PER_PAGE);
  const next = found.length > DRIVERS_PER_PAGE ? drivers.at(-1)?.id : undefined;
  return { drivers, next };
}

/** Leaves out users who have become private. */
function findUsers({ users }: Snapshot, ids: readonly number[]): Stored<User>[] {
  return ids.flatMap((id) => {
    const user = users.findProfile(id);
    return "missing" in user ? [] : [user];
  });
}

/** `query` is normalized. */
export function* readResults({ search }: Snapshot, query: string): Generator<void, ResultsView> {
  const drivers = (yield* search.listUsers(query)).map(withTime);
  const companies = yield* search.listCompanies(query);
  const view = { kind: "results", query, drivers, companies } as const;
  if (drivers.length + companies.length > 0) return view;

  yield;
  const similar = search.listSimilar(query);
  return { ...view, similar: { ...similar, drivers: similar.drivers.map(withTime) } };
}

const withTime = <Driver extends { created_at: number }>(driver: Driver) => ({
  ...driver,
  created_at: formatTime(driver.created_at),
});

export function readDriver(
  { users }: Snapshot,
  id: number | undefined,
  allAfter: number | undefined,
): DriverView | ProblemView {
  if (id === undefined) return { kind: "problem", problem: "user_not_found" };
  const user = users.findProfile(id);
  if ("missing" in user) return { kind: "problem", problem: user.missing };

  const text = users.findAchievements(user.id);
  const achievements: AchievementEntry[] = typeof text === "string" ? JSON.parse(text) : [];
  return { kind: "driver", user, achievements, allAfter };
}

/** Shows the users whose ids are above `after`. */
export function readCompany(
  { companies }: Snapshot,
  id: number | undefined,
  after: number,
): CompanyView | ProblemView {
  const company = id === undefined ? undefined : companies.find(id);
  if (!company) return { kind: "problem", problem: "route_not_found" };

  const found = companies.listUsers(company.id, after, DRIVERS_PER_PAGE + 1);
  const counted = companies.countUsers(company.id, MAX_COUNTED);
  const publicMembers = counted < MAX_COUNTED ? counted : undefined;
  return { kind: "company", company, ...pageOf(found), publicMembers, after };
}
