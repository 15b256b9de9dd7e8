/**
 * Reads the records in tables: those of a folder of CSV files, or of a database that SELECTs are run
 * in. They are validated later, like the lines of a dataset. Reports rows without a record, and rows
 * of what users have that belong to nobody or are invalid themselves.
 *
 * A source (csv-source.ts, database-source.ts) finds the columns of a file in its header (header.ts),
 * and a table (table.ts) reads its rows in pages. The cells of a row are converted as columns.ts says.
 */
import { setImmediate } from "node:timers/promises";
import { Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import {
  type FoundError,
  type Item,
  OWN_IDS,
  type RawRecord,
  type RecordReader,
  type RecordType,
  type UnknownColumn,
} from "../domain/dataset.ts";
import { toKey } from "../domain/keys.ts";
import { Count } from "../domain/model.ts";
import { parseTime } from "../domain/time.ts";
import { InvalidCell, listErrors, mustBeId, mustExist } from "../domain/validation-errors.ts";
import {
  findColumn,
  idColumnOf,
  ownedTables,
  type TableName,
  tableOf,
  toCells,
} from "./columns.ts";
import { type Companies, readCompanies } from "./companies.ts";
import {
  createTable,
  type ReadHooks,
  type Row,
  type Table,
  type TableSource,
  type Tables,
} from "./table.ts";

/** Reads the tables in `files`, which are paths of a folder or a single one, from a source. */
export function createReader(
  source: TableSource,
  files: ReadonlyMap<TableName, string>,
  hooks: ReadHooks,
): RecordReader {
  const tables = new Map<TableName, Table>();
  const unknownColumns: UnknownColumn[] = [];
  const notes: string[] = [];

  /** Yields all records, and the errors in all other rows. */
  async function* read(): AsyncGenerator<readonly Item[]> {
    // A wrong header is an error before anything is counted.
    for (const [name, path] of files) {
      const table = createTable(source, name, await source.open(name, path), hooks);
      tables.set(name, table);
      unknownColumns.push(...table.header.unknown);
      notes.push(...table.header.notes);
    }
    for (const table of tables.values()) await table.count();

    for (const table of tables.values()) {
      const error = mustBeId(idColumnOf(table.name), undefined);
      const rows = await table.listWithoutId();
      yield rows.map((row) => toProblem(table, row, error));
    }

    const companies = await readCompanies(tables);
    const known = { role: new Set<unknown>(), achievement: new Set<unknown>() };
    // A user is written with the name of the company, so companies come before users.
    for (const type of ["role", "achievement", "company"] as const) {
      const table = tables.get(tableOf(type));
      if (!table) continue;
      for await (const rows of table.pages()) {
        const items = toItems(table, type, rows);
        for (const item of items) {
          if (!("record" in item)) continue;
          if (type === "company") companies.add(item.record);
          else known[type].add(item.record.id);
        }
        yield items;
      }
    }
    const named = companies.make();
    if (named) {
      yield named.made.map((record) => ({ record, at: 0 }));
      notes.push(named.note);
    }
    yield* readUsers(tables, known, companies);

    for (const table of tables.values()) table.checkComplete();
  }

  return {
    ids: OWN_IDS,
    unknownColumns,
    notes,
    read,
    locate: (error) => locate(error, source, tables),
    [Symbol.asyncDispose]: () => source[Symbol.asyncDispose](),
  };
}

/** Returns the records in rows, which are in the order of their ids. Users may name `companies`. */
function toItems(
  table: Table,
  type: RecordType,
  rows: readonly Row[],
  companies?: Companies,
): Item[] {
  const { source } = table;
  let first: Row | undefined;
  return rows.map((row): Item => {
    const cells = toCells(row, source);
    if (!source.ids.isId(cells.id)) return toProblem(table, row, mustBeId("id", cells.id));

    if (row.id !== first?.id) first = row;
    return {
      record: toRecord(type, cells, companies),
      // The records of a database are found by their ids.
      at: row.line ?? 0,
      first: row === first ? undefined : first?.line,
    };
  });
}

function toRecord(type: RecordType, cells: RawRecord, companies?: Companies): RawRecord {
  const { company_id, company, company_role = "Member", ...fields } = cells;
  // For a private user, the id is enough.
  if (fields.public === false) return { type, id: fields.id, public: false };

  const id = company === undefined ? company_id : companies?.find(company);
  // An invalid name takes the place of the company, so that validation quotes it.
  if (id instanceof InvalidCell) fields.company = id;
  else if (id !== undefined) fields.company = { id, role: company_role };
  return { type, ...fields };
}

/** The ids of the roles and achievements. */
type KnownIds = Record<"role" | "achievement", ReadonlySet<unknown>>;

/** How many rows of these tables to add at a time, which takes about a millisecond. */
const ROWS_AT_A_TIME = 500;
/** How many pages to request before the one that is used. */
const AHEAD = 2;
/** So many ids in a table are enough to show why users are missing. */
const MAX_MISSING = 100;

/** A user of a page, who gets what other tables have. */
interface Owner {
  user: RawRecord;
  /** Whether several rows have the id. The record then also gets what is wrong in other tables. */
  isRepeated: boolean;
  roles: Set<unknown>;
  /** By the id of the achievement, or for an invalid one, by itself. Most users have none. */
  unlocks?: Map<unknown, RawRecord>;
}

/** The users of a page by their ids. */
type Owners = ReadonlyMap<unknown, Owner>;

/** Yields each page of users when all that they have has been added. */
async function* readUsers(
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
    // Whatever follows belongs to nobody.
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
    // If an id is repeated, the first row counts.
    const first = owners.get(record.id);
    if (first) first.isRepeated = true;
    else owners.set(record.id, { user: record, isRepeated: false, roles: new Set() });
  }
  return owners;
}

/** Adds a row to its user. Returns what is wrong with the row. */
function addRow(owners: Owners, known: KnownIds, table: Table, row: Row): readonly FoundError[] {
  const { user_id, role_id, achievement_id, ...reached } = toCells(row, table.source);
  const owner = owners.get(user_id);
  if (!owner) return [explainMissing(table, "user", user_id)];
  // Nothing about a private user is checked.
  if (owner.user.public !== true) return [];

  const isRole = table.name === "user_roles";
  const type = isRole ? "role" : "achievement";
  const id = isRole ? role_id : achievement_id;
  const unlock = { id, ...reached };
  const errors: FoundError[] = [];
  if (!known[type].has(id)) errors.push(explainMissing(table, type, id));
  else if (!isRole && !unlockShape.Check(unlock)) {
    errors.push(...listErrors(unlockShape.Errors(unlock), false));
  }
  if (errors.length > 0 && !owner.isRepeated) return errors;

  if (isRole) owner.roles.add(id);
  else addUnlock(owner, unlock, errors.length === 0);
  return [];
}

/** Returns the error for a reference to a record that does not exist. */
function explainMissing({ source }: Table, type: RecordType, id: unknown): FoundError {
  const field = `${type}_id`;
  if (!source.ids.isId(id)) return mustBeId(field, id);
  return { ...mustExist(field, type, id), missing: { type, id } };
}

/** The id has been checked with the achievements, and whatever became text is a time. */
const unlockShape = TypeCompiler.Compile(Type.Object({ tier: Count, unlocked_at: Type.String() }));

/** The highest tier of an achievement counts, then the earliest time. */
function addUnlock(owner: Owner, unlock: RawRecord, isValid: boolean): void {
  owner.unlocks ??= new Map();
  const key = isValid ? unlock.id : unlock;
  const other = owner.unlocks.get(key);
  if (!other || isBetter(unlock, other)) owner.unlocks.set(key, unlock);
}

function isBetter(unlock: RawRecord, other: RawRecord): boolean {
  const lead = Number(unlock.tier) - Number(other.tier);
  return lead > 0 || (lead === 0 && secondsOf(unlock) < secondsOf(other));
}

function secondsOf({ unlocked_at }: RawRecord): number {
  return parseTime(String(unlocked_at)) ?? 0;
}

/** Returns the item for a row that is no record. Such a row of `users` is a lost user. */
function toProblem({ source, name }: Table, row: Row, problem: FoundError): Item {
  const cell = row[idColumnOf(name)];
  const id = toKey(cell) ?? cell ?? "NULL";
  const located = locateRow(source, name, problem, row.line, id);
  return { problem: located, losesUser: name === "users" };
}

/** Names the row and the column of an error in a record. */
function locate(error: FoundError, source: TableSource, tables: Tables): FoundError {
  const { at, type, id } = error;
  // A company that was made from its name stands in no table.
  if (type === undefined || at === undefined || !tables.has(tableOf(type))) return error;

  const hasNames = tables.get("users")?.header.columns.has("company");
  const isName = hasNames && error.field === "company.id";
  const field = isName ? "company" : error.field.replace(/^company\./, "company_");
  return locateRow(source, tableOf(type), { ...error, field }, at, id);
}

/** Names a row as `users.csv, line 12`, or `users.sql, id 42`. */
function locateRow(
  { isSpreadsheet, fileOf }: TableSource,
  table: TableName,
  error: FoundError,
  line: number | undefined,
  id: unknown,
): FoundError {
  const { field, reason, kind = reason, hasId = false } = error;
  const place = isSpreadsheet ? `line ${line}` : `${idColumnOf(table)} ${id}`;
  const cure = isSpreadsheet && reason === "is missing" ? findColumn(field)?.ifMissing : undefined;
  return {
    ...error,
    reason: cure === undefined ? reason : `${reason}; ${cure}`,
    kind,
    place: `${fileOf(table)}, ${place}`,
    hasId: hasId || !isSpreadsheet,
  };
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
