/**
 * Compares a new snapshot with the one that it replaces, person by person, because equal totals can
 * hide that everybody has another id. Refuses what looks like an accident, such as a query that has
 * lost a column. A small community may change in any way.
 */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../../sqlite/driver.ts";
import type { Totals } from "../format/meta.ts";
import type { RecordErrors } from "./record-errors.ts";
import type { Target } from "./target.ts";

export interface GuardOptions {
  /** Whether most users, companies or achievements may go, or most of what users have. */
  allowShrink?: boolean | undefined;
  /** Whether an import may make more than half of the private users, and more than ten, public. */
  allowReveal?: boolean | undefined;
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
export interface Changed {
  users: readonly number[];
  companies: readonly number[];
}

/** Anything may happen to this many. */
const MAX_UNGUARDED = 10;

/**
 * Compares a database with the snapshot that it will replace. Throws an error if that looks like an
 * accident. Reads only the records in `changed`, if it is given.
 */
export function compare(
  db: Database,
  target: Target,
  after: Totals,
  options: GuardOptions,
  changed?: Changed,
): Differences {
  // Stays attached until the database is closed, because a transaction may be open.
  db.run(sql`ATTACH ${target.path} AS old`);
  const measured = measure(db, changed);
  refuseAccident(db, target, after, measured, options);
  const { users, privateUsers } = measured;
  const removed = users.deleted + privateUsers.deleted;
  return {
    users: {
      added: after.counts.users - (target.counts.users - removed),
      removed,
      made_private: users.made_private,
      made_public: privateUsers.made_public,
    },
    unlocked_achievements: { before: target.unlocked, after: after.unlocked },
    changed: {
      names: users.names,
      avatars: users.avatars,
      companies: users.companies,
      roles: users.roles,
    },
    lost: {
      avatars: users.lost_avatars,
      companies: users.lost_companies,
      roles: users.lost_roles,
    },
  };
}

/** Throws if an import with `--skip-invalid` has left hardly anybody. */
export function refuseMostlyInvalid(
  { hidden, leftOut }: RecordErrors,
  { counts }: Totals,
  { allowShrink }: GuardOptions,
): void {
  const all = counts.users + leftOut;
  if (allowShrink || !isMost(hidden + leftOut, all)) return;
  const share = `${format(hidden + leftOut)} of ${format(all)} users are invalid`;
  const result = "so they would become private or be left out; nothing was written";
  throw new Error(`${share}, ${result} (if this is intended, add --allow-shrink)`);
}

type Measured = ReturnType<typeof measure>;

function measure(db: Database, changed?: Changed) {
  const named = (ids: readonly number[] | undefined): SQL => {
    if (ids === undefined) return sql``;
    return sql`WHERE o.id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`;
  };
  return {
    users: measureUsers(db, named(changed?.users)),
    privateUsers: count(
      db,
      {
        made_public: sql`n.id IS NOT NULL`,
        deleted: sql`n.id IS NULL AND NOT ${IS_PRIVATE}`,
      },
      sql`FROM old.private_user o LEFT JOIN main.user n ON n.id = o.id ${named(changed?.users)}`,
    ),
    companies: count(
      db,
      { deleted: sql`n.id IS NULL` },
      sql`FROM old.company o LEFT JOIN main.company n ON n.id = o.id ${named(changed?.companies)}`,
    ),
  };
}

const IS_PRIVATE = sql`EXISTS (SELECT 1 FROM main.private_user p WHERE p.id = o.id)`;

/** Counts what has become of the users who were public. */
function measureUsers(db: Database, where: SQL) {
  const stays = sql`n.id IS NOT NULL`;
  const terms = {
    made_private: sql`CASE WHEN n.id IS NULL THEN ${IS_PRIVATE} END`,
    deleted: sql`CASE WHEN n.id IS NULL THEN NOT ${IS_PRIVATE} END`,
    unlocked_by_gone: sql`CASE WHEN n.id IS NULL THEN json_array_length(o.achievements) END`,
    names: sql`n.name <> o.name`,
    avatars: sql`${stays} AND n.avatar_url IS NOT o.avatar_url`,
    companies: sql`${stays} AND
      (n.company_id IS NOT o.company_id OR n.company_role IS NOT o.company_role)`,
    roles: sql`n.roles <> o.roles`,
    lost_avatars: sql`${stays} AND ${HAS.avatars} AND n.avatar_url IS NULL`,
    lost_companies: sql`${stays} AND ${HAS.companies} AND n.company_id IS NULL`,
    lost_roles: sql`${HAS.roles} AND n.roles = '[]'`,
  };
  return count(db, terms, sql`FROM old.user o LEFT JOIN main.user n ON n.id = o.id ${where}`);
}

const HAS = {
  avatars: sql`o.avatar_url IS NOT NULL`,
  companies: sql`o.company_id IS NOT NULL`,
  roles: sql`o.roles <> '[]'`,
};

/** Adds up each expression over all rows. */
function count<Name extends string>(db: Database, terms: Record<Name, SQL>, from: SQL) {
  const names = Object.keys(terms) as Name[];
  const sums = names.map((name) => sql`coalesce(sum(${terms[name]}), 0)`);
  const [values = []] = db.values<number[]>(sql`SELECT ${sql.join(sums, sql`, `)} ${from}`);
  return Object.fromEntries(names.map((name, at) => [name, values[at] ?? 0])) as Record<
    Name,
    number
  >;
}

function refuseAccident(
  db: Database,
  target: Target,
  after: Totals,
  measured: Measured,
  { allowShrink, allowReveal }: GuardOptions,
): void {
  const loss = allowShrink ? undefined : findLoss(db, target, after, measured);
  const reveal = allowReveal ? undefined : findReveal(target, measured);
  const change = loss ?? reveal;
  if (change === undefined) return;
  const flag = loss === undefined ? "--allow-reveal" : "--allow-shrink";
  const advice = `nothing was written (if this is intended, add ${flag})`;
  throw new Error(`${target.name} would ${change}; ${advice}`);
}

function findLoss(
  db: Database,
  target: Target,
  after: Totals,
  { users, privateUsers, companies }: Measured,
): string | undefined {
  const before = target.counts;
  const gone = users.made_private + users.deleted;
  const losses: [count: number, all: number, what: string][] = [
    [users.deleted + privateUsers.deleted, before.users, "users"],
    [gone, before.public_users, "public users"],
    [companies.deleted, before.companies, "companies"],
    [users.lost_avatars, countOld(db, "avatars", users.lost_avatars), "avatars"],
    [users.lost_companies, countOld(db, "companies", users.lost_companies), "users' companies"],
    [users.lost_roles, countOld(db, "roles", users.lost_roles), "users' roles"],
  ];
  const loss = losses.find(([count, all]) => isMost(count, all));
  if (loss) return `lose ${share(...loss)}`;

  // What a few users take with them is no accident.
  const unlocked = target.unlocked - (gone > MAX_UNGUARDED ? 0 : users.unlocked_by_gone);
  const lost = unlocked - after.unlocked;
  if (lost > unlocked / 2) return `lose ${share(lost, unlocked, "unlocked achievements")}`;

  const renamed = isMost(users.names, before.public_users) ? countSameName(db) : 0;
  if (!isMost(renamed, before.public_users)) return undefined;
  return `give the same name to ${share(renamed, before.public_users, "public users")}`;
}

/** Counts the users who had one, if so many lost it that this number matters. */
function countOld(db: Database, what: keyof typeof HAS, lost: number): number {
  if (lost <= MAX_UNGUARDED) return lost;
  return count(db, { had: HAS[what] }, sql`FROM old.user o`).had;
}

/** Private users who are absent are probably there under another id, and public. */
function findReveal({ counts }: Target, { privateUsers }: Measured): string | undefined {
  const hidden = counts.users - counts.public_users;
  const revealed = privateUsers.made_public + privateUsers.deleted;
  if (!isMost(revealed, hidden)) return undefined;
  const verb = privateUsers.deleted > 0 ? "publish or lose" : "publish";
  return `${verb} ${share(revealed, hidden, "private users")}`;
}

function countSameName(db: Database): number {
  const [[most = 0] = []] = db.values<[number]>(sql`SELECT count(*)
    FROM old.user o JOIN main.user n ON n.id = o.id AND n.name <> o.name
    GROUP BY n.name ORDER BY 1 DESC LIMIT 1`);
  return most;
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
