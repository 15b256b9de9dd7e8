/**
 * Compares a new snapshot with the one that it replaces, person by person, because equal totals can
 * hide that everybody has another id. Refuses what looks like an accident, such as a query that has
 * lost a column. ../snapshot/README.md has the rules.
 *
 * The old snapshot is attached to the new one's database as `old`.
 */
import { type SQL, sql } from "drizzle-orm";
import type { RecordType } from "../domain/raw-records.ts";
import { groupDigits } from "../domain/text.ts";
import type { Summary, Totals } from "../snapshot/format/meta.ts";
import type { Database } from "../sqlite/driver.ts";
import { HIDE_ELSEWHERE } from "./ids.ts";
import type { ImportOptions } from "./options.ts";
import type { ReadReport } from "./read-dataset.ts";
import type { OldSnapshot } from "./target.ts";

/** How a new snapshot differs from the old one. */
export interface Differences {
  users: Record<"added" | "removed" | "made_private" | "made_public", number>;
  unlocked_achievements: Record<"before" | "after", number>;
  /** For how many users who stay public this has changed. */
  changed: Record<"names" | "avatars" | "companies" | "roles", number>;
  /** How many users who stay public have none any more. */
  lost: Record<"avatars" | "companies" | "roles", number>;
}

/** The report on a snapshot that `import` or `apply` has written. */
export interface WriteReport extends ReadReport, Totals {
  /** The checksum of the new snapshot; undefined for a dry run. */
  sha256?: string | undefined;
  /** Undefined if the file is new or nothing could be compared. */
  differences: Differences | undefined;
  /** How many users an import kept private or deleted, although the dataset says otherwise. */
  held: number;
  /** The records that a change file deletes and that do not exist. */
  notFound: { type: RecordType; id: number | string }[];
}

/** Thrown instead of writing a snapshot that looks like an accident. */
export class UnlikelyChange extends Error {
  /** The end of the message, which begins with the name of the snapshot. */
  readonly change: string;

  constructor(name: string, change: string) {
    super(`${name} ${change}`);
    this.change = change;
  }
}

/** The records that a change file names. All others have stayed the same. */
interface ChangedIds {
  users: readonly number[];
  companies: readonly number[];
}

/** Any change to at most this many users is allowed, unless takedowns are held. */
const MAX_UNGUARDED = 10;
/** A takedown concerns few people, and most communities are small. */
const MAX_PRIVATE = 2;

/** Returns how a new snapshot differs from the old one. Throws if it looks like an accident. */
export function guard(
  db: Database,
  old: OldSnapshot,
  after: Summary,
  { allowShrink, allowReveal, allowRenames }: ImportOptions,
  changed?: ChangedIds,
): Differences {
  const found = compareRows(db, changed);
  // A change file names users by ids that have not changed.
  const isHeld = changed === undefined && old.hasTakedowns;
  refuseAccidents(old.name, isHeld, {
    "--allow-renames": allowRenames ? undefined : findRenames(found),
    "--allow-shrink": allowShrink ? undefined : findLoss(db, old, after, found),
    "--allow-reveal": allowReveal ? undefined : findReveal(old, found),
  });
  return toDifferences(old, after, found);
}

/** Throws if a dataset is empty, or if most of its users are invalid. Also guards a first import. */
export function refuseEmpty(
  { counts }: Summary,
  { madePrivate, leftOut }: ReadReport,
  old: OldSnapshot | undefined,
  { allowShrink }: ImportOptions,
): void {
  if (counts.users === 0 && counts.companies === 0) {
    throw new Error("the dataset has no users and no companies; nothing was written");
  }

  const all = counts.users + leftOut;
  const invalid = madePrivate + leftOut;
  if (allowShrink || !isMost(invalid, all, limitOf(old))) return;

  const share = `${groupDigits(invalid)} of ${groupDigits(all)} users are invalid`;
  throw new Error(
    `${share}, so they would become private or be left out; nothing was written (if this is intended, add --allow-shrink)`,
  );
}

/** While takedowns are held, a file in which hidden users have other ids would publish them. */
function limitOf(old: OldSnapshot | undefined): number {
  return old?.hasTakedowns ? MAX_PRIVATE : MAX_UNGUARDED;
}

/**
 * Throws if `found` says what would happen to the snapshot `name`. The message names the flags that allow
 * it, unless takedowns are held: if ids have changed, these flags would publish hidden users.
 */
function refuseAccidents(
  name: string,
  isHeld: boolean,
  found: Record<string, string | undefined>,
): void {
  const accidents = Object.entries(found).filter(([, what]) => what !== undefined);
  if (accidents.length === 0) return;

  const list = new Intl.ListFormat("en");
  const would = list.format(accidents.map(([, what]) => String(what)));
  const flags = list.format(accidents.map(([flag]) => flag));
  const cure = flags.includes("--allow-renames") ? "give each user an id that stays, or " : "";
  const intended = isHeld ? HIDE_ELSEWHERE : `add ${flags}`;
  throw new UnlikelyChange(
    name,
    `would ${would}; nothing was written (${cure}if this is intended, ${intended})`,
  );
}

/** Compares only users who stay public: counting others, too, could hide that rows were renumbered. */
function findRenames({ names, stay }: Comparison): string | undefined {
  if (!isMost(names, stay, MAX_PRIVATE)) return undefined;
  const renamed = `rename ${groupDigits(names)} of the ${groupDigits(stay)} users who stay public`;
  return `${renamed} (as when rows are renumbered)`;
}

function findLoss(
  db: Database,
  old: OldSnapshot,
  after: Summary,
  found: Comparison,
): string | undefined {
  const limit = limitOf(old);
  const { users, public_users, companies } = old.counts;
  const gone = found.made_private + found.removed_public;
  const lossOf = (count: number, all: number, what: string) => shareIfMost(count, all, what, limit);
  /** Reads all users, but only if `count` can matter. */
  const ofOwners = (count: number, had: SQL, what: string) =>
    count > limit
      ? lossOf(count, countSelected(db, sql`old.user o WHERE ${had}`), what)
      : undefined;

  const lost =
    lossOf(found.removed_public + found.removed_private, users, "users") ??
    lossOf(gone, public_users, "public users") ??
    lossOf(found.removed_companies, companies, "companies") ??
    ofOwners(found.lost_avatars, HAD_AVATAR, "avatars") ??
    ofOwners(found.lost_companies, HAD_COMPANY, "users' companies") ??
    ofOwners(found.lost_roles, HAD_ROLES, "users' roles");
  if (lost !== undefined) return `lose ${lost}`;

  // If few users leave, the achievements that they take with them do not count as lost.
  const unlocked = old.unlocked - (gone > limit ? 0 : found.unlocked_by_gone);
  const locked = unlocked - after.unlocked;
  if (locked > unlocked / 2) return `lose ${share(locked, unlocked, "unlocked achievements")}`;

  if (!isMost(found.names, public_users, limit)) return undefined;
  // If Ann, Bob and Cem are now NULL, NULL and Dan, the most frequent of the new names has 2 users.
  const renamed = sql`old.user o JOIN main.user n ON n.id = o.id AND n.name <> o.name`;
  const named = lossOf(
    countSelected(db, sql`${renamed} GROUP BY n.name ORDER BY 1 DESC LIMIT 1`),
    public_users,
    "public users",
  );
  return named && `give the same name to ${named}`;
}

/** An absent private user is probably there under another id, and public. */
function findReveal({ counts }: OldSnapshot, found: Comparison): string | undefined {
  const hidden = counts.users - counts.public_users;
  const revealed = found.made_public + found.removed_private;
  const verb = found.removed_private > 0 ? "publish or lose" : "publish";
  const lost = shareIfMost(revealed, hidden, "private users", MAX_PRIVATE);
  return lost && `${verb} ${lost}`;
}

function shareIfMost(count: number, all: number, what: string, limit: number): string | undefined {
  return isMost(count, all, limit) ? share(count, all, what) : undefined;
}

function isMost(count: number, all: number, limit: number): boolean {
  return count > limit && count > all / 2;
}

function share(count: number, all: number, what: string): string {
  return `${groupDigits(count)} of its ${groupDigits(all)} ${what}`;
}

function toDifferences(before: Totals, after: Totals, found: Comparison): Differences {
  const { made_private, made_public, names, avatars, companies, roles } = found;
  const removed = found.removed_public + found.removed_private;
  const added = after.counts.users - (before.counts.users - removed);
  return {
    users: { added, removed, made_private, made_public },
    unlocked_achievements: { before: before.unlocked, after: after.unlocked },
    changed: { names, avatars, companies, roles },
    lost: {
      avatars: found.lost_avatars,
      companies: found.lost_companies,
      roles: found.lost_roles,
    },
  };
}

const HAD_AVATAR = sql`o.avatar_url IS NOT NULL`;
const HAD_COMPANY = sql`o.company_id IS NOT NULL`;
const HAD_ROLES = sql`o.roles <> '[]'`;

type Comparison = Record<
  | "stay"
  | "made_private"
  | "made_public"
  | "removed_public"
  | "removed_private"
  | "removed_companies"
  | "unlocked_by_gone"
  | "names"
  | "avatars"
  | "companies"
  | "roles"
  | "lost_avatars"
  | "lost_companies"
  | "lost_roles",
  number
>;

/**
 * Counts the differences between the users and companies of `old` and `main`. For example:
 *
 * | id | old | new | is counted in |
 * |---|---|---|---|
 * | 1 | Ann, with an avatar and roles | Anna, without | `stay`, `names`, `avatars`, `lost_avatars`, `roles`, `lost_roles` |
 * | 2 | Bob, with 3 achievements | private | `made_private`, and 3 in `unlocked_by_gone` |
 * | 3 | Cem | absent | `removed_public` |
 * | 4 | private | Dan | `made_public` |
 * | 5 | private | absent | `removed_private` |
 * | 6 | absent | Eve | none; `toDifferences` finds out how many users were added |
 *
 * Reads only the records in `changed`, if it is given.
 */
function compareRows(db: Database, changed?: ChangedIds): Comparison {
  const isAmong = (ids: readonly number[] | undefined) =>
    ids ? sql`o.id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))` : sql`true`;
  const isPrivate = sql`EXISTS (SELECT 1 FROM main.private_user p WHERE p.id = o.id)`;
  const [found] = db.all<Comparison>(sql`SELECT * FROM
    (SELECT
      total(n.id IS NOT NULL) AS stay,
      total(n.id IS NULL AND ${isPrivate}) AS made_private,
      total(n.id IS NULL AND NOT ${isPrivate}) AS removed_public,
      total(CASE WHEN n.id IS NULL THEN json_array_length(o.achievements) END) AS unlocked_by_gone,
      total(n.name <> o.name) AS names,
      total(n.id IS NOT NULL AND n.avatar_url IS NOT o.avatar_url) AS avatars,
      total(n.id IS NOT NULL AND (n.company_id IS NOT o.company_id
        OR n.company_role IS NOT o.company_role)) AS companies,
      total(n.roles <> o.roles) AS roles,
      total(n.id IS NOT NULL AND ${HAD_AVATAR} AND n.avatar_url IS NULL) AS lost_avatars,
      total(n.id IS NOT NULL AND ${HAD_COMPANY} AND n.company_id IS NULL) AS lost_companies,
      total(${HAD_ROLES} AND n.roles = '[]') AS lost_roles
      FROM old.user o LEFT JOIN main.user n ON n.id = o.id WHERE ${isAmong(changed?.users)}),
    (SELECT
      total(n.id IS NOT NULL) AS made_public,
      total(n.id IS NULL AND NOT ${isPrivate}) AS removed_private
      FROM old.private_user o LEFT JOIN main.user n ON n.id = o.id
      WHERE ${isAmong(changed?.users)}),
    (SELECT total(n.id IS NULL) AS removed_companies
      FROM old.company o LEFT JOIN main.company n ON n.id = o.id
      WHERE ${isAmong(changed?.companies)})`);
  // Sums are always one row.
  return found as Comparison;
}

/** Returns the first count of a query. */
function countSelected(db: Database, from: SQL): number {
  const [row] = db.values<[count: number]>(sql`SELECT count(*) FROM ${from}`);
  return row?.[0] ?? 0;
}
