/**
 * Reads users together with what the rows of other tables give them, their roles and achievements.
 * Reports such rows that belong to nobody or are invalid themselves.
 */
import { setImmediate } from "node:timers/promises";
import { Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { lazy } from "../domain/lazy.ts";
import { Count } from "../domain/model.ts";
import type { Finding, RawRecord, RecordType } from "../domain/raw-records.ts";
import type { Item } from "../domain/record-reader.ts";
import { parseTime } from "../domain/time.ts";
import { listErrors, mustBeId, mustExist } from "../domain/validation-errors.ts";
import { ownedTables, toCells } from "./columns.ts";
import type { Companies } from "./companies.ts";
import { readAhead } from "./read-ahead.ts";
import { toItems, toProblem } from "./row-items.ts";
import type { Row, Table, Tables } from "./table.ts";

/** The ids of the roles and achievements. */
type KnownIds = Record<"role" | "achievement", ReadonlySet<unknown>>;

/** How many rows of these tables to add at a time, which takes about a millisecond. */
const ROWS_AT_A_TIME = 500;
/** How many pages to request before the one that is used. */
const AHEAD = 2;
/** How many ids without a user to look for at the end, in case the pages had missed their users. */
const MAX_MISSING = 100;

/** A user of a page, who gets what other tables have. */
interface Owner {
  user: RawRecord;
  roles: Set<unknown>;
  /** By the id of the achievement. Most users have none. */
  unlocks?: Map<unknown, RawRecord>;
}

/** The users of a page by their ids. */
type Owners = ReadonlyMap<unknown, Owner>;

/** Yields each page of users with all that they have, after the errors in that. */
export async function* readUsers(
  tables: Tables,
  known: KnownIds,
  companies: Companies,
): AsyncGenerator<readonly Item[]> {
  /** Some ids in each table that no user has. */
  const unowned = new Map<Table, (number | string)[]>();

  for await (const page of readAhead(listPages(tables, companies), AHEAD)) {
    if ("users" in page) {
      for (const { user, roles, unlocks } of page.owners.values()) {
        if (roles.size > 0) user.roles = [...roles];
        if (unlocks) user.achievements = [...unlocks.values()];
      }
      yield page.users;
      continue;
    }

    const { owners, table, rows } = page;
    const ids = unowned.get(table) ?? [];
    unowned.set(table, ids);
    for (let at = 0; at < rows.length; at += ROWS_AT_A_TIME) {
      // Lets the database's client receive a reply and send the next query.
      await setImmediate();
      yield rows.slice(at, at + ROWS_AT_A_TIME).flatMap((row) => {
        const errors = addRow(owners, known, table, row);
        for (const { missing } of errors) {
          if (missing?.type === "user" && ids.length < MAX_MISSING) ids.push(missing.id);
        }
        return errors.map((error) => toProblem(table, row, error));
      });
    }
  }

  for (const [table, ids] of unowned) {
    if (ids.length > 0 && (await tables.get("users")?.hasAny(ids))) throw table.misordered();
  }
}

/** A page of rows that users own. */
interface OwnedPage {
  owners: Owners;
  table: Table;
  rows: readonly Row[];
}

/** A page of users. It follows the pages of all that they own. */
interface UsersPage {
  owners: Owners;
  users: readonly Item[];
}

async function* listPages(
  tables: Tables,
  companies: Companies,
): AsyncGenerator<OwnedPage | UsersPage> {
  const table = tables.get("users");
  let last: unknown;
  if (table) {
    for await (const rows of table.pages()) {
      const users = toItems(table, "user", rows, companies);
      const owners = listOwners(users);
      const upTo = rows.at(-1)?.id;
      yield* listOwned(tables, owners, last, upTo);
      yield { owners, users };
      last = upTo;
    }
  }
  // The remaining rows belong to no user.
  yield* listOwned(tables, new Map(), last);
}

/** Lists the rows of the owners, who are the users after one id and up to another. */
async function* listOwned(
  tables: Tables,
  owners: Owners,
  after: unknown,
  upTo?: unknown,
): AsyncGenerator<OwnedPage> {
  for (const name of ownedTables) {
    const table = tables.get(name);
    if (!table) continue;
    for await (const rows of table.pages(after, upTo)) yield { owners, table, rows };
  }
}

function listOwners(items: readonly Item[]): Owners {
  const owners = new Map<unknown, Owner>();
  for (const item of items) {
    if (!("record" in item)) continue;
    const { record } = item;
    // It does not matter which one of several rows with the same id, because that is an error.
    owners.set(record.id, { user: record, roles: new Set() });
  }
  return owners;
}

/** Adds a row to its user. Returns what is wrong with the row. */
function addRow(owners: Owners, known: KnownIds, table: Table, row: Row): readonly Finding[] {
  const { user_id, role_id, achievement_id, ...reached } = toCells(row, table.format);
  const owner = owners.get(user_id);
  if (!owner) return [explainMissing(table, "user", user_id)];
  // Nothing about a private user is checked.
  if (owner.user.public !== true) return [];

  const isRole = table.name === "user_roles";
  const type = isRole ? "role" : "achievement";
  const id = isRole ? role_id : achievement_id;
  if (!known[type].has(id)) return [explainMissing(table, type, id)];
  if (isRole) {
    owner.roles.add(id);
    return [];
  }

  const unlock = { id, ...reached };
  if (!unlockShape().Check(unlock)) return listErrors(unlockShape().Errors(unlock), false);
  addUnlock(owner, unlock);
  return [];
}

/** Returns the error for a reference to a record that does not exist. */
function explainMissing({ format }: Table, type: RecordType, id: unknown): Finding {
  const field = `${type}_id`;
  return format.ids.isId(id) ? mustExist(field, type, id) : mustBeId(field, id);
}

/** The id has been checked with the achievements, and whatever became text is a time. */
const unlockShape = lazy(() =>
  TypeCompiler.Compile(Type.Object({ tier: Count, unlocked_at: Type.String() })),
);

/** The highest tier of an achievement counts, then the earliest time. */
function addUnlock(owner: Owner, unlock: RawRecord): void {
  owner.unlocks ??= new Map();
  const other = owner.unlocks.get(unlock.id);
  if (!other || isBetter(unlock, other)) owner.unlocks.set(unlock.id, unlock);
}

function isBetter(unlock: RawRecord, other: RawRecord): boolean {
  const lead = Number(unlock.tier) - Number(other.tier);
  return lead > 0 || (lead === 0 && secondsOf(unlock) < secondsOf(other));
}

function secondsOf({ unlocked_at }: RawRecord): number {
  return parseTime(String(unlocked_at)) ?? 0;
}
