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

/** Yields each page of users when all that they have has been added. */
export async function* readUsers(
  tables: Tables,
  known: KnownIds,
  companies: Companies,
): AsyncGenerator<readonly Item[]> {
  /** Some ids in each table that no user has. */
  const missing = new Map<Table, (number | string)[]>();
  let users: readonly Item[] = [];
  let owners: Owners = new Map();

  for await (const { table, rows } of readAhead(listPages(tables), AHEAD)) {
    if (table.name === "users") {
      for (const { user, roles, unlocks } of owners.values()) {
        if (roles.size > 0) user.roles = [...roles];
        if (unlocks) user.achievements = [...unlocks.values()];
      }
      yield users;
      users = toItems(table, "user", rows, companies);
      owners = listOwners(users);
      continue;
    }

    const ids = missing.get(table) ?? [];
    missing.set(table, ids);
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

  for (const [table, ids] of missing) {
    if (ids.length > 0 && (await tables.get("users")?.hasAny(ids))) throw table.misordered();
  }
}

/**
 * Requests a number of items before the one that is used, so that a database works on them
 * meanwhile.
 *
 * At the end, also after an error, `items` is closed once it has settled what was requested. That is
 * not awaited, because a database may be silent. Closing its connection settles its replies.
 */
export async function* readAhead<T>(items: AsyncGenerator<T>, ahead: number): AsyncGenerator<T> {
  const requested: Promise<IteratorResult<T>>[] = [];
  const request = () => {
    const next = items.next();
    // An error is thrown where the item is awaited. After the end, it matters to nobody.
    next.catch(() => {});
    requested.push(next);
  };

  try {
    while (requested.length < ahead) request();
    for (;;) {
      const result = await requested.shift();
      if (!result || result.done) return;
      request();
      yield result.value;
    }
  } finally {
    items.return(undefined).catch(() => {});
  }
}

/** A page of users, or of what the users in the page before have. */
interface Page {
  table: Table;
  rows: readonly Row[];
}

async function* listPages(tables: Tables): AsyncGenerator<Page> {
  const users = tables.get("users");
  let last: unknown;
  if (users) {
    for await (const rows of users.pages()) {
      yield { table: users, rows };
      const upTo = rows.at(-1)?.id;
      yield* listOwned(tables, last, upTo);
      last = upTo;
    }
    // The remaining rows belong to no user.
    yield { table: users, rows: [] };
  }
  yield* listOwned(tables, last);
}

/** Lists the rows of the users after one id and up to another. */
async function* listOwned(tables: Tables, after: unknown, upTo?: unknown): AsyncGenerator<Page> {
  for (const name of ownedTables) {
    const table = tables.get(name);
    if (!table) continue;
    for await (const rows of table.pages(after, upTo)) yield { table, rows };
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
  if (!format.ids.isId(id)) return mustBeId(field, id);
  return { ...mustExist(field, type, id), missing: { type, id } };
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
