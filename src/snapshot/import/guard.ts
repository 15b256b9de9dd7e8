/**
 * Refuses a new snapshot that looks like an accident, such as one made with a query that has lost a
 * column. ../README.md has the rules.
 */
import type { Database } from "../../sqlite/driver.ts";
import type { Totals } from "../format/counts.ts";
import { type ChangedIds, Comparison, type Differences } from "./comparison.ts";
import type { OldSnapshot } from "./old-snapshot.ts";
import type { SkippedErrors } from "./record-errors.ts";
import type { Summary } from "./summary.ts";

export interface GuardOptions {
  /** Whether most users, companies or achievements may go, or most of what users have. */
  allowShrink?: boolean | undefined;
  /** Whether an import may make more than half of the private users, and more than ten, public. */
  allowReveal?: boolean | undefined;
}

/** Anything may happen to this many. */
const MAX_UNGUARDED = 10;

/** Returns how an import differs from the old snapshot. Throws if it looks like an accident. */
export function guardImport(
  db: Database,
  skipped: SkippedErrors,
  summary: Summary,
  old: OldSnapshot | undefined,
  options: GuardOptions,
): Differences | undefined {
  const { counts } = summary;
  if (counts.users === 0 && counts.companies === 0) {
    throw new Error("the dataset has no users and no companies; nothing was written");
  }

  refuseMostlyInvalid(skipped, summary, options);
  if (old === undefined) return undefined;

  const comparison = new Comparison(db, old, summary);
  refuseLoss(old.name, comparison, options);
  refuseReveal(old.name, comparison, options);
  return comparison.differences();
}

/** Returns how a changed copy differs from the old snapshot. Throws if most of something is gone. */
export function guardChanges(
  db: Database,
  changed: ChangedIds,
  summary: Summary,
  old: OldSnapshot,
  options: Pick<GuardOptions, "allowShrink">,
): Differences {
  const comparison = new Comparison(db, old, summary, changed);
  refuseLoss(old.name, comparison, options);
  return comparison.differences();
}

/** Throws if most of what the snapshot named `name` has would be gone. */
function refuseLoss(name: string, comparison: Comparison, { allowShrink }: GuardOptions): void {
  const loss = allowShrink ? undefined : findLoss(comparison);
  if (loss !== undefined) throw accident(`${name} would ${loss}`, "--allow-shrink");
}

/** Throws if most of the private users would be public. */
function refuseReveal(name: string, comparison: Comparison, { allowReveal }: GuardOptions): void {
  const reveal = allowReveal ? undefined : findReveal(comparison);
  if (reveal !== undefined) throw accident(`${name} would ${reveal}`, "--allow-reveal");
}

/** Throws if an import with `--skip-invalid` has left hardly anybody. */
function refuseMostlyInvalid(
  { hidden, leftOut }: SkippedErrors,
  { counts }: Totals,
  { allowShrink }: GuardOptions,
): void {
  const all = counts.users + leftOut;
  if (allowShrink || !isMost(hidden + leftOut, all)) return;
  const share = `${format(hidden + leftOut)} of ${format(all)} users are invalid`;
  throw accident(`${share}, so they would become private or be left out`, "--allow-shrink");
}

function accident(what: string, flag: string): Error {
  return new Error(`${what}; nothing was written (if this is intended, add ${flag})`);
}

function findLoss(comparison: Comparison): string | undefined {
  const { publicUsers, privateUsers, companies } = comparison;
  const { counts } = comparison.before;
  const deleted = publicUsers.deleted + privateUsers.deleted;

  const lost =
    shareIfMost(deleted, () => counts.users, "users") ??
    shareIfMost(countGone(comparison), () => counts.public_users, "public users") ??
    shareIfMost(companies.deleted, () => counts.companies, "companies") ??
    shareIfMost(publicUsers.lost_avatars, () => comparison.countOwners("avatars"), "avatars") ??
    shareIfMost(
      publicUsers.lost_companies,
      () => comparison.countOwners("companies"),
      "users' companies",
    ) ??
    shareIfMost(publicUsers.lost_roles, () => comparison.countOwners("roles"), "users' roles") ??
    findLostAchievements(comparison);

  return lost === undefined ? findSameName(comparison) : `lose ${lost}`;
}

/** Counts the users who are not public any more. */
function countGone({ publicUsers }: Comparison): number {
  return publicUsers.made_private + publicUsers.deleted;
}

function findLostAchievements(comparison: Comparison): string | undefined {
  const { before, after, publicUsers } = comparison;
  // A few users who leave with their achievements are no accident.
  const isAccident = countGone(comparison) > MAX_UNGUARDED;
  const unlocked = before.unlocked - (isAccident ? 0 : publicUsers.unlocked_by_gone);
  const lost = unlocked - after.unlocked;
  return lost > unlocked / 2 ? share(lost, unlocked, "unlocked achievements") : undefined;
}

function findSameName(comparison: Comparison): string | undefined {
  const all = comparison.before.counts.public_users;
  if (!isMost(comparison.publicUsers.names, all)) return undefined;

  const renamed = shareIfMost(comparison.countSameName(), () => all, "public users");
  return renamed && `give the same name to ${renamed}`;
}

/** Private users who are absent are probably there under another id, and public. */
function findReveal({ before, privateUsers }: Comparison): string | undefined {
  const hidden = before.counts.users - before.counts.public_users;
  const revealed = privateUsers.made_public + privateUsers.deleted;
  const verb = privateUsers.deleted > 0 ? "publish or lose" : "publish";
  const most = shareIfMost(revealed, () => hidden, "private users");
  return most && `${verb} ${most}`;
}

/** Calls `countAll`, which may read all users, only if `count` can matter. */
function shareIfMost(count: number, countAll: () => number, what: string): string | undefined {
  if (count <= MAX_UNGUARDED) return undefined;

  const all = countAll();
  return isMost(count, all) ? share(count, all, what) : undefined;
}

function isMost(count: number, all: number): boolean {
  return count > MAX_UNGUARDED && count > all / 2;
}

function share(count: number, all: number, what: string): string {
  return `${format(count)} of its ${format(all)} ${what}`;
}

function format(count: number): string {
  return count.toLocaleString("en");
}
