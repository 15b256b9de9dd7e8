/**
 * Reads users together with what the rows of other tables give them, their roles and achievements.
 * Reports such rows that belong to nobody or are invalid themselves.
 */
import { setImmediate } from "node:timers/promises";
import { type Static, Type } from "@sinclair/typebox";
import { UnlockedAchievement } from "../domain/model.ts";
import type { Finding, Item, RawRecord, RecordType } from "../domain/records.ts";
import { parseTime } from "../domain/time.ts";
import { shapeFor } from "../domain/validate-record.ts";
import { InvalidCell, listErrors, mustBeId, mustExist } from "../domain/validation-errors.ts";
import { type Cells, ownedTables, toCells } from "./columns.ts";
import type { Companies } from "./companies.ts";
import { readAhead } from "./read-ahead.ts";
import { type CheckedRow, checkRows, toItems, toProblem } from "./row-items.ts";
import type { Row, Table, Tables } from "./table.ts";

/** The ids of the roles and achievements. */
type KnownIds = Record<"role" | "achievement", ReadonlySet<unknown>>;

/** How many rows of these tables to add at a time, which takes about a millisecond. */
const ROWS_AT_A_TIME = 500;
/** How many pages to request before the one that is used. */
const AHEAD = 2;
/** How many ids without a user to look for at the end, in case the pages had missed their users. */
const MAX_MISSING = 100;

/** The roles and achievements of a user, from the rows of other tables. */
interface Belongings {
  isPublic: boolean;
  roles?: Set<unknown>;
  /** By the id of the achievement. */
  unlocks?: Map<unknown, Unlock>;
}

/** The belongings of the users of a page, by the users' ids. */
type Owners = ReadonlyMap<unknown, Belongings>;

/** How far a user has come with an achievement. */
const Reached = Type.Omit(UnlockedAchievement, ["id"]);
/** The id may be a key. */
type Unlock = Static<typeof Reached> & { id: unknown };

/** Yields each page of users with all that they have, after the errors in that. */
export async function* readUsers(
  tables: Tables,
  known: KnownIds,
  companies: Companies,
): AsyncGenerator<readonly Item[]> {
  let users: readonly CheckedRow[] = [];
  let owners: Owners = new Map();
  const toRecord = (cells: Cells) => toUser(cells, companies, owners.get(cells.id));
  /** Some ids in each table that no user has. */
  const unowned = new Map<Table, (number | string)[]>();

  for await (const { table, rows } of readAhead(listPages(tables), AHEAD)) {
    if (table.name === "users") {
      // Nothing that follows belongs to the users before.
      yield toItems(users, toRecord);
      users = checkRows(table, rows);
      owners = listOwners(users);
      continue;
    }

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

/** A page of a table's rows: of users, or of what they own. */
interface Page {
  table: Table;
  rows: readonly Row[];
}

/** Yields each page of users before the pages of the rows that they own. */
async function* listPages(tables: Tables): AsyncGenerator<Page> {
  const users = tables.get("users");
  const owned = ownedTables.flatMap((name) => tables.get(name) ?? []);
  let last: unknown;
  if (users) {
    for await (const rows of users.pages()) {
      yield { table: users, rows };
      const upTo = rows.at(-1)?.id;
      yield* listRange(owned, last, upTo);
      last = upTo;
    }
    // The remaining rows belong to no user.
    yield { table: users, rows: [] };
  }
  yield* listRange(owned, last);
}

/** Yields the pages of the rows whose users come after one id and not after another. */
async function* listRange(
  tables: readonly Table[],
  after: unknown,
  upTo?: unknown,
): AsyncGenerator<Page> {
  for (const table of tables) {
    for await (const rows of table.pages(after, upTo)) yield { table, rows };
  }
}

function listOwners(users: readonly CheckedRow[]): Owners {
  const owners = new Map<unknown, Belongings>();
  for (const user of users) {
    if ("problem" in user) continue;
    const { id, public: isPublic } = user.cells;
    // It does not matter which one of several rows with the same id, because that is an error.
    owners.set(id, { isPublic: isPublic === true });
  }
  return owners;
}

/** Adds a row to its user. Returns what is wrong with the row. */
function addRow(owners: Owners, known: KnownIds, table: Table, row: Row): readonly Finding[] {
  const { user_id, role_id, achievement_id, ...reached } = toCells(row, table.format);
  const owner = owners.get(user_id);
  if (!owner) return [explainMissing(table, "user", user_id)];
  // Nothing about a private user is checked.
  if (!owner.isPublic) return [];

  const isRole = table.name === "user_roles";
  const type = isRole ? "role" : "achievement";
  const id = isRole ? role_id : achievement_id;
  if (!known[type].has(id)) return [explainMissing(table, type, id)];
  if (isRole) {
    owner.roles ??= new Set();
    owner.roles.add(id);
    return [];
  }

  const shape = shapeFor(Reached);
  if (!shape.Check(reached)) return listErrors(shape.Errors(reached), false);
  addUnlock(owner, { id, ...reached });
  return [];
}

/** Returns the error for a reference to a record that does not exist. */
function explainMissing({ format }: Table, type: RecordType, id: unknown): Finding {
  const field = `${type}_id`;
  return format.ids.isId(id) ? mustExist(field, type, id) : mustBeId(field, id);
}

/** The highest tier of an achievement counts, then the earliest time. */
function addUnlock(owner: Belongings, unlock: Unlock): void {
  owner.unlocks ??= new Map();
  const other = owner.unlocks.get(unlock.id);
  if (!other || isBetter(unlock, other)) owner.unlocks.set(unlock.id, unlock);
}

function isBetter(unlock: Unlock, other: Unlock): boolean {
  const lead = unlock.tier - other.tier;
  return lead > 0 || (lead === 0 && secondsOf(unlock) < secondsOf(other));
}

function secondsOf({ unlocked_at }: Unlock): number {
  return parseTime(unlocked_at) ?? 0;
}

/** Returns the record of a user. */
function toUser(cells: Cells, companies: Companies, belongings?: Belongings): RawRecord {
  const { company_id, company, company_role = "Member", ...fields } = cells;
  // For a private user, the id is enough.
  if (fields.public === false) return { type: "user", id: fields.id, public: false };

  const id = company === undefined ? company_id : companies.find(company);
  // An invalid name takes the place of the company, so that validation quotes it.
  const isNone = id === undefined || id instanceof InvalidCell;
  return {
    type: "user",
    ...fields,
    company: isNone ? id : { id, role: company_role },
    roles: belongings?.roles && [...belongings.roles],
    achievements: belongings?.unlocks && [...belongings.unlocks.values()],
  };
}
