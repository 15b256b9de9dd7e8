/**
 * Refuses a new snapshot that looks like an accident, such as one made with a query that has lost a
 * column. ../README.md has the rules.
 */

import type { Totals } from "../snapshot/format/meta.ts";
import type { Database } from "../sqlite/driver.ts";
import { type ChangedIds, Comparison, type Differences } from "./comparison.ts";
import type { OldSnapshot } from "./old-snapshot.ts";
import type { SkippedErrors } from "./record-errors.ts";
import type { Summary } from "./summary.ts";

export interface GuardOptions {
  /** Whether most users, companies or achievements may go, or most of what users have. */
  allowShrink?: boolean | undefined;
  /** Whether most private users may become public or absent in an import. */
  allowReveal?: boolean | undefined;
  /** Whether most users may have other names after an import, as when rows are renumbered. */
  allowRenames?: boolean | undefined;
}

/** What would happen that looks like an accident, and the flag that allows it. */
interface Accident {
  what: string;
  flag: "--allow-shrink" | "--allow-reveal" | "--allow-renames";
}

/** Anything may happen to this many, unless somebody has just been hidden. */
const MAX_UNGUARDED = 10;
/** A takedown concerns few people, and most communities are small. */
const MAX_PRIVATE = 2;

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

  const limit = limitOf(old);
  refuseMostlyInvalid(skipped, summary, limit, options);
  if (old === undefined) return undefined;

  const comparison = new Comparison(db, old, summary);
  refuse(old.name, [
    options.allowRenames ? undefined : findRenames(comparison),
    options.allowShrink ? undefined : findLoss(comparison, limit),
    options.allowReveal ? undefined : findReveal(comparison),
  ]);
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
  refuse(old.name, [options.allowShrink ? undefined : findLoss(comparison, limitOf(old))]);
  return comparison.differences();
}

/** While takedowns are held, a file in which others have their ids would publish these people. */
function limitOf(old: OldSnapshot | undefined): number {
  return old && old.takedowns.length > 0 ? MAX_PRIVATE : MAX_UNGUARDED;
}

/** Throws if there are accidents that would happen to the snapshot named `name`. */
function refuse(name: string, found: readonly (Accident | undefined)[]): void {
  const accidents = found.filter((accident) => accident !== undefined);
  if (accidents.length === 0) return;

  const list = new Intl.ListFormat("en");
  const flags = accidents.map(({ flag }) => flag);
  const cure = flags.includes("--allow-renames") ? "give each user an id that stays, or " : "";
  throw new Error(
    `${name} would ${list.format(accidents.map(({ what }) => what))}; nothing was written (${cure}if this is intended, add ${list.format(flags)})`,
  );
}

/** Throws if an import with `--skip-invalid` has left hardly anybody. */
function refuseMostlyInvalid(
  { hidden, leftOut }: SkippedErrors,
  { counts }: Totals,
  limit: number,
  { allowShrink }: GuardOptions,
): void {
  const all = counts.users + leftOut;
  const invalid = hidden + leftOut;
  if (allowShrink || !isMost(invalid, all, limit)) return;

  const share = `${format(invalid)} of ${format(all)} users are invalid`;
  throw new Error(
    `${share}, so they would become private or be left out; nothing was written (if this is intended, add --allow-shrink)`,
  );
}

/** Compares only those who stay public, because the others could hide that everybody has moved. */
function findRenames({ publicUsers }: Comparison): Accident | undefined {
  const { names, stay } = publicUsers;
  if (!isMost(names, stay, MAX_PRIVATE)) return undefined;

  const renamed = `rename ${format(names)} of the ${format(stay)} users who stay public`;
  return { what: `${renamed} (as when rows are renumbered)`, flag: "--allow-renames" };
}

function findLoss(comparison: Comparison, limit: number): Accident | undefined {
  const { publicUsers, privateUsers, companies } = comparison;
  const { counts } = comparison.before;
  const deleted = publicUsers.deleted + privateUsers.deleted;
  const most = (count: number, countAll: () => number, what: string) =>
    shareIfMost(count, countAll, what, limit);

  const lost =
    most(deleted, () => counts.users, "users") ??
    most(countGone(comparison), () => counts.public_users, "public users") ??
    most(companies.deleted, () => counts.companies, "companies") ??
    most(publicUsers.lost_avatars, () => comparison.countOwners("avatars"), "avatars") ??
    most(
      publicUsers.lost_companies,
      () => comparison.countOwners("companies"),
      "users' companies",
    ) ??
    most(publicUsers.lost_roles, () => comparison.countOwners("roles"), "users' roles") ??
    findLostAchievements(comparison, limit);

  const what = lost === undefined ? findSameName(comparison, limit) : `lose ${lost}`;
  return what === undefined ? undefined : { what, flag: "--allow-shrink" };
}

/** Counts the users who are not public any more. */
function countGone({ publicUsers }: Comparison): number {
  return publicUsers.made_private + publicUsers.deleted;
}

function findLostAchievements(comparison: Comparison, limit: number): string | undefined {
  const { before, after, publicUsers } = comparison;
  // A few users who leave with their achievements are no accident.
  const isAccident = countGone(comparison) > limit;
  const unlocked = before.unlocked - (isAccident ? 0 : publicUsers.unlocked_by_gone);
  const lost = unlocked - after.unlocked;
  return lost > unlocked / 2 ? share(lost, unlocked, "unlocked achievements") : undefined;
}

function findSameName(comparison: Comparison, limit: number): string | undefined {
  const all = comparison.before.counts.public_users;
  if (!isMost(comparison.publicUsers.names, all, limit)) return undefined;

  const renamed = shareIfMost(comparison.countSameName(), () => all, "public users", limit);
  return renamed && `give the same name to ${renamed}`;
}

/** Private users who are absent are probably there under another id, and public. */
function findReveal({ before, privateUsers }: Comparison): Accident | undefined {
  const hidden = before.counts.users - before.counts.public_users;
  const revealed = privateUsers.made_public + privateUsers.deleted;
  const verb = privateUsers.deleted > 0 ? "publish or lose" : "publish";
  const most = shareIfMost(revealed, () => hidden, "private users", MAX_PRIVATE);
  return most === undefined ? undefined : { what: `${verb} ${most}`, flag: "--allow-reveal" };
}

/** Calls `countAll`, which may read all users, only if `count` can matter. */
function shareIfMost(
  count: number,
  countAll: () => number,
  what: string,
  limit: number,
): string | undefined {
  if (count <= limit) return undefined;

  const all = countAll();
  return isMost(count, all, limit) ? share(count, all, what) : undefined;
}

function isMost(count: number, all: number, limit: number): boolean {
  return count > limit && count > all / 2;
}

function share(count: number, all: number, what: string): string {
  return `${format(count)} of its ${format(all)} ${what}`;
}

function format(count: number): string {
  return count.toLocaleString("en");
}
