/**
 * Compares a new snapshot with the one that it replaces, person by person, because equal totals can
 * hide that everybody has another id. The old one is attached to the new one's database as `old`.
 */
import { type SQL, sql } from "drizzle-orm";
import type { Totals } from "../snapshot/format/meta.ts";
import type { Database } from "../sqlite/driver.ts";

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
export interface ChangedIds {
  users: readonly number[];
  companies: readonly number[];
}

/** The conditions for a user of the old snapshot to have had something. */
const HAD = {
  avatars: sql`o.avatar_url IS NOT NULL`,
  companies: sql`o.company_id IS NOT NULL`,
  roles: sql`o.roles <> '[]'`,
};

const IS_PRIVATE = sql`EXISTS (SELECT 1 FROM main.private_user p WHERE p.id = o.id)`;

export class Comparison {
  readonly before: Totals;
  readonly after: Totals;
  /** The changes to users who were public. */
  readonly publicUsers;
  /** The changes to users who were private. */
  readonly privateUsers;
  readonly companies;
  readonly #db: Database;

  /** Reads only the records in `changed`, if it is given. */
  constructor(db: Database, before: Totals, after: Totals, changed?: ChangedIds) {
    this.#db = db;
    this.before = before;
    this.after = after;
    this.publicUsers = comparePublicUsers(db, isAmong(changed?.users));
    this.privateUsers = comparePrivateUsers(db, isAmong(changed?.users));
    this.companies = compareCompanies(db, isAmong(changed?.companies));
  }

  /** How many users had one of these. Reads all users. */
  countOwners(what: keyof typeof HAD): number {
    return count(this.#db, { had: HAD[what] }, sql`FROM old.user o`).had;
  }

  /** Counts the users who got another name, and all the same one. Reads all users. */
  countSameName(): number {
    const [largest] = this.#db.values<[users: number]>(sql`SELECT count(*)
      FROM old.user o JOIN main.user n ON n.id = o.id AND n.name <> o.name
      GROUP BY n.name ORDER BY 1 DESC LIMIT 1`);
    return largest?.[0] ?? 0;
  }

  differences(): Differences {
    const { before, after, publicUsers, privateUsers } = this;
    const removed = publicUsers.deleted + privateUsers.deleted;
    return {
      users: {
        added: after.counts.users - (before.counts.users - removed),
        removed,
        made_private: publicUsers.made_private,
        made_public: privateUsers.made_public,
      },
      unlocked_achievements: { before: before.unlocked, after: after.unlocked },
      changed: {
        names: publicUsers.names,
        avatars: publicUsers.avatars,
        companies: publicUsers.companies,
        roles: publicUsers.roles,
      },
      lost: {
        avatars: publicUsers.lost_avatars,
        companies: publicUsers.lost_companies,
        roles: publicUsers.lost_roles,
      },
    };
  }
}

function isAmong(ids: readonly number[] | undefined): SQL {
  if (ids === undefined) return sql`true`;
  return sql`o.id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`;
}

function comparePublicUsers(db: Database, which: SQL) {
  const stays = sql`n.id IS NOT NULL`;
  const terms = {
    made_private: sql`CASE WHEN n.id IS NULL THEN ${IS_PRIVATE} END`,
    deleted: sql`CASE WHEN n.id IS NULL THEN NOT ${IS_PRIVATE} END`,
    stay: stays,
    unlocked_by_gone: sql`CASE WHEN n.id IS NULL THEN json_array_length(o.achievements) END`,
    names: sql`n.name <> o.name`,
    avatars: sql`${stays} AND n.avatar_url IS NOT o.avatar_url`,
    companies: sql`${stays} AND
      (n.company_id IS NOT o.company_id OR n.company_role IS NOT o.company_role)`,
    roles: sql`n.roles <> o.roles`,
    lost_avatars: sql`${stays} AND ${HAD.avatars} AND n.avatar_url IS NULL`,
    lost_companies: sql`${stays} AND ${HAD.companies} AND n.company_id IS NULL`,
    lost_roles: sql`${HAD.roles} AND n.roles = '[]'`,
  };
  return count(db, terms, sql`FROM old.user o LEFT JOIN main.user n ON n.id = o.id WHERE ${which}`);
}

function comparePrivateUsers(db: Database, which: SQL) {
  const terms = {
    made_public: sql`n.id IS NOT NULL`,
    deleted: sql`n.id IS NULL AND NOT ${IS_PRIVATE}`,
  };
  const from = sql`FROM old.private_user o LEFT JOIN main.user n ON n.id = o.id`;
  return count(db, terms, sql`${from} WHERE ${which}`);
}

function compareCompanies(db: Database, which: SQL) {
  const from = sql`FROM old.company o LEFT JOIN main.company n ON n.id = o.id`;
  return count(db, { deleted: sql`n.id IS NULL` }, sql`${from} WHERE ${which}`);
}

/** Adds up each of the terms over all rows. */
function count<Name extends string>(db: Database, terms: Record<Name, SQL>, from: SQL) {
  const names = Object.keys(terms) as Name[];
  const sums = names.map((name) => sql`coalesce(sum(${terms[name]}), 0)`);
  const [values = []] = db.values<number[]>(sql`SELECT ${sql.join(sums, sql`, `)} ${from}`);
  const counts = names.map((name, at) => [name, values[at] ?? 0]);
  return Object.fromEntries(counts) as Record<Name, number>;
}
