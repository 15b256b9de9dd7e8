/**
 * Compares a new snapshot with the one that it replaces, person by person, because equal totals can
 * hide that everybody has another id. Refuses what looks like an accident, such as a query that has
 * lost a column. ../snapshot/README.md has the rules.
 *
 * The old snapshot is attached to the new one's database as `old`.
 */
import { type SQL, sql } from "drizzle-orm";
import { groupDigits } from "../domain/text.ts";
import type { Summary, Totals } from "../snapshot/format/meta.ts";
import type { Database } from "../sqlite/driver.ts";
import type { ReadReport } from "./read-dataset.ts";
import { HIDE_ELSEWHERE } from "./takedowns.ts";
import type { OldSnapshot } from "./target.ts";

/** Thrown instead of writing a snapshot that looks like an accident. */
export class UnlikelyChange extends Error {
  /** The end of the message, which begins with the name of the snapshot. */
  readonly change: string;

  constructor(name: string, change: string) {
    super(`${name} ${change}`);
    this.change = change;
  }
}

/** What may happen although it looks like an accident. */
export interface Allowances {
  /** Whether most users, companies or achievements may go, or most of what users have. */
  allowShrink?: boolean | undefined;
  /** Whether most private users may become public or absent. */
  allowReveal?: boolean | undefined;
  /** Whether most users may have other names, as when rows are renumbered. */
  allowRenames?: boolean | undefined;
}

/** How a new snapshot differs from the old one. */
export interface Differences {
  users: Record<"added" | "removed" | "made_private" | "made_public", number>;
  unlocked_achievements: Record<"before" | "after", number>;
  /** For how many users who stay public this has changed. */
  changed: Record<"names" | "avatars" | "companies" | "roles", number>;
  /** How many users who stay public have none any more. */
  lost: Record<"avatars" | "companies" | "roles", number>;
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

/** The flags that allow it. */
const FLAGS = {
  allowRenames: "--allow-renames",
  allowShrink: "--allow-shrink",
  allowReveal: "--allow-reveal",
} satisfies Record<keyof Allowances, string>;

/** It is an accident if `count` is more than `limit` and more than half of `of`. */
interface Rule {
  count: number;
  /** A number, or the condition for the users of the old snapshot to count, which is slow. */
  of: number | SQL;
  limit: number;
  /** Completes the error after "would", as in "lose … users". The dots stand for both numbers. */
  would: string;
}

/**
 * Returns how a new snapshot differs from the old one. Throws if it looks like an accident that is not
 * `allowed`. After a change file, only losses do, because its lines name those whom they rename or publish.
 */
export function guard(
  db: Database,
  old: OldSnapshot,
  after: Summary,
  allowed: Allowances,
  changed?: ChangedIds,
): Differences {
  const found = compareRows(db, changed);
  const isImport = changed === undefined;
  // While takedowns are held, these flags would publish hidden users if ids have changed.
  const isHeld = isImport && old.hasTakedowns;
  function check(allowance: keyof Allowances, { count, of, limit, would }: Rule): void {
    if (allowed[allowance] || count <= limit) return;
    const all = typeof of === "number" ? of : countSelected(db, sql`old.user o WHERE ${of}`);
    if (!isMost(count, all, limit)) return;

    const happens = would.replace("…", `${groupDigits(count)} of its ${groupDigits(all)}`);
    const cure = allowance === "allowRenames" ? "give each user an id that stays, or " : "";
    const intended = isHeld ? HIDE_ELSEWHERE : `add ${FLAGS[allowance]}`;
    const advice = `${cure}if this is intended, ${intended}`;
    throw new UnlikelyChange(old.name, `would ${happens}; nothing was written (${advice})`);
  }

  if (isImport) check("allowRenames", toRenames(found));
  for (const loss of listLosses(db, old, after, found)) check("allowShrink", loss);
  if (isImport) check("allowReveal", toReveals(old, found));
  return toDifferences(old, after, found);
}

/** Counting those who do not stay public, too, could hide that rows were renumbered. */
function toRenames({ names, stay }: Comparison): Rule {
  const would = "rename … users who stay public (as when rows are renumbered)";
  return { count: names, of: stay, limit: MAX_PRIVATE, would };
}

/** An absent private user is probably there under another id, and public. */
function toReveals({ counts }: OldSnapshot, { made_public, removed_private }: Comparison): Rule {
  const would = `${removed_private > 0 ? "publish or lose" : "publish"} … private users`;
  const count = made_public + removed_private;
  return { count, of: counts.users - counts.public_users, limit: MAX_PRIVATE, would };
}

/** Lists the most telling rule first. */
function listLosses(db: Database, old: OldSnapshot, after: Summary, found: Comparison): Rule[] {
  const { users, public_users, companies } = old.counts;
  const limit = limitOf(old);
  const removed = found.removed_public + found.removed_private;
  const gone = found.made_private + found.removed_public;
  // If few users leave, the achievements that they take with them do not count as lost.
  const unlocked = old.unlocked - (gone > limit ? 0 : found.unlocked_by_gone);
  const locked = unlocked - after.unlocked;
  const namesakes = isMost(found.names, public_users, limit) ? countNamesakes(db) : 0;
  return [
    { count: removed, of: users, limit, would: "lose … users" },
    { count: gone, of: public_users, limit, would: "lose … public users" },
    { count: found.removed_companies, of: companies, limit, would: "lose … companies" },
    { count: found.lost_avatars, of: HAD_AVATAR, limit, would: "lose … avatars" },
    { count: found.lost_companies, of: HAD_COMPANY, limit, would: "lose … users' companies" },
    { count: found.lost_roles, of: HAD_ROLES, limit, would: "lose … users' roles" },
    { count: locked, of: unlocked, limit: 0, would: "lose … unlocked achievements" },
    { count: namesakes, of: public_users, limit, would: "give the same name to … public users" },
  ];
}

/** Returns 2 if Ann, Bob and Cem are now NULL, NULL and Dan: how often the most frequent new name is. */
function countNamesakes(db: Database): number {
  const renamed = sql`old.user o JOIN main.user n ON n.id = o.id AND n.name <> o.name`;
  return countSelected(db, sql`${renamed} GROUP BY n.name ORDER BY 1 DESC LIMIT 1`);
}

/** Throws if a dataset is empty, or if most of its users are invalid. Also guards a first import. */
export function refuseEmpty(
  { counts }: Summary,
  { madePrivate, leftOut }: ReadReport,
  old: OldSnapshot | undefined,
  allowShrink: boolean | undefined,
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

function isMost(count: number, all: number, limit: number): boolean {
  return count > limit && count > all / 2;
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
