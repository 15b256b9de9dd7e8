/**
 * Turns the rows of a database or of CSV files into records, which are validated later, like the
 * lines of a dataset. Reports rows without a record, and invalid rows of roles and achievements.
 */
import { statSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { type RawRecord, type RecordKey, validateUnlock } from "../domain/dataset.ts";
import {
  type FoundError,
  type Item,
  OWN_IDS,
  type RecordError,
  type RecordSource,
  type UnknownColumn,
} from "../domain/record-source.ts";
import { parseTime } from "../domain/time.ts";
import { mustBeId, toKey } from "../domain/validation-errors.ts";
import { createConverter } from "./cells.ts";
import { findTables, keyOf, type TableName } from "./columns.ts";
import { openCsv } from "./csv.ts";
import { openDatabase } from "./database.ts";
import type { DateOrder } from "./date-order.ts";
import { type Reporting, type Row, type Source, Table } from "./queries.ts";

export interface TableOptions extends Reporting {
  /** The file that maps ids of any kind to integers. Without it, ids must be integers. */
  idMap?: string | undefined;
  /** The folder with a SELECT for each table, if the source is a database. */
  queries?: string | undefined;
  /** The order of day and month in CSV files, where a column does not show it. */
  dates?: DateOrder | undefined;
  /** How long to wait for each page of rows from a database server. */
  timeoutMs?: number | undefined;
}

/** With `hasKeys`, ids can be of any kind; see {@link toKey}. */
type TableReaderOptions = Reporting & { hasKeys: boolean };

type RecordType = RecordKey["type"];
type ListName = (typeof lists)[number];
type RowProblem = Omit<RecordError, "place">;

const lists = ["roles", "achievements"] as const;

/** How many rows of a list to convert at a time, which takes about a millisecond. */
const SLICE = 500;
/** Enough to find out why so many users are missing. */
const MAX_MISSING = 100;

export class TableReader implements RecordSource {
  readonly ids = OWN_IDS;
  readonly unknownColumns: UnknownColumn[] = [];
  readonly #source: Source;
  readonly #files: ReadonlyMap<TableName, string>;
  readonly #options: TableReaderOptions;
  readonly #convert: (row: Row) => RawRecord;
  readonly #tables = new Map<TableName, Table>();
  /** The ids of the roles and achievements. */
  readonly #known = { role: new Set<unknown>(), achievement: new Set<unknown>() };
  /** The number of users by company id. */
  readonly #members = new Map<unknown, number>();
  /** Some ids in the lists that no user in their range has. */
  readonly #missing = { roles: new Set<unknown>(), achievements: new Set<unknown>() };
  /** How many records have been read, which is the place of a record unless it has a line. */
  #count = 0;
  /** The last row of users. */
  #lastUser: Row | undefined;

  constructor(source: Source, files: ReadonlyMap<TableName, string>, options: TableReaderOptions) {
    this.#source = source;
    this.#files = files;
    this.#options = options;
    this.#convert = createConverter(options.hasKeys, source);
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#source[Symbol.asyncDispose]();
  }

  /** Yields all records, and the errors in all other rows. */
  async *read(): AsyncGenerator<Item[]> {
    await this.#openTables();
    yield* this.#readWithoutId();
    await this.#countMembers();
    // A user is written with the name of the company, so companies come before users.
    for (const type of ["role", "achievement", "company"] as const) {
      for await (const rows of this.#pages(tableOf(type))) yield this.#toRecords(type, rows);
    }
    yield* this.#readUsers();
    await this.#checkComparison();
    for (const table of this.#tables.values()) table.finish();
  }

  /** Adds the row and the column to an error in a record. */
  locate({ at, first, ...error }: FoundError): RecordError {
    const { type, id } = error;
    if (type === undefined || at === undefined) return error;
    const field = error.field.replace(/^company\./, "company_");
    const reason = error.reason + (first === undefined ? "" : ` (first on line ${first})`);
    return { ...error, field, reason, place: this.#placeOf(tableOf(type), at, id) };
  }

  async #openTables(): Promise<void> {
    for (const [name, path] of this.#files) {
      const table = await Table.open(this.#source, name, path, this.#options);
      this.#tables.set(name, table);
      this.unknownColumns.push(...table.header.unknown);
    }
  }

  async *#readWithoutId(): AsyncGenerator<Item[]> {
    for (const [name, table] of this.#tables) {
      const rows = await table.listWithoutId();
      yield rows.map((row) => this.#errorIn(name, row, mustBeId(keyOf(name), undefined)));
    }
  }

  /** Yields each page of users when the rows of their lists have been added. */
  async *#readUsers(): AsyncGenerator<Item[]> {
    let users: Item[] = [];
    let owners = new Map<unknown, RawRecord>();
    // A database server works on the next page and its lists meanwhile.
    for await (const { list, rows } of readAhead(this.#userPages(), 2)) {
      if (list) {
        yield* this.#addToLists(list, owners, rows);
        continue;
      }
      for (const owner of owners.values()) finishLists(owner);
      yield users;
      users = this.#toRecords("user", rows);
      const records = users.filter((item) => "record" in item).map(({ record }) => record);
      // If an id is repeated, the first row counts.
      owners = new Map(records.reverse().map((record) => [record.id, record]));
    }
  }

  /** Yields each page of users before the rows of their lists, and at last the rows of nobody. */
  async *#userPages(): AsyncGenerator<{ rows: Row[]; list?: ListName }> {
    let after: Row | undefined;
    for await (const rows of this.#pages("users")) {
      yield { rows };
      yield* this.#listPages(after, rows.at(-1));
      after = rows.at(-1);
    }
    this.#lastUser = after;
    yield { rows: [] };
    yield* this.#listPages(after);
  }

  async *#listPages(after: Row | undefined, upTo?: Row) {
    for (const list of lists) {
      for await (const rows of this.#pages(`user_${list}`, after, upTo)) yield { list, rows };
    }
  }

  #pages(table: TableName, after?: Row, upTo?: Row) {
    return this.#tables.get(table)?.pages(after, upTo) ?? [];
  }

  #toRecords(type: RecordType, rows: Row[]): Item[] {
    let first: Row = {};
    return rows.map((row): Item => {
      const { company_id, company_role = "Member", ...fields } = this.#convert(row);
      const { id } = fields;
      if (!this.#isId(id)) return this.#errorIn(tableOf(type), row, mustBeId("id", id));
      if (row.id !== first.id) first = row;
      this.#count++;
      const line = row.line as number | undefined;
      const isRepeated = row !== first && line !== undefined;
      const place = { at: line ?? this.#count, first: isRepeated ? Number(first.line) : undefined };
      // For a private user, the id is enough.
      if (fields.public === false) return { record: { type, id, public: false }, ...place };
      if (company_id !== undefined) fields.company = { id: company_id, role: company_role };
      if (type === "company") fields.member_count ??= this.#members.get(id) ?? 0;
      if (type === "role" || type === "achievement") this.#known[type].add(id);
      return { record: { type, ...fields }, ...place };
    });
  }

  /** Counts how many users each company has. */
  async #countMembers(): Promise<void> {
    const users = this.#tables.get("users");
    if (!users?.header.places.has("company_id")) return;
    const columns = "q.company_id AS company_id, COUNT(*) AS members";
    for (const row of await users.query("GROUP BY q.company_id", columns)) {
      const id = this.#convert(row).company_id;
      this.#members.set(id, (this.#members.get(id) ?? 0) + Number(row.members));
    }
  }

  /** Adds rows to the lists of their public owners. Yields the errors in the rows. */
  async *#addToLists(list: ListName, owners: Map<unknown, RawRecord>, rows: Row[]) {
    for (let at = 0; at < rows.length; at += SLICE) {
      // Lets the database's client receive a reply and send the next query.
      await setImmediate();
      yield rows.slice(at, at + SLICE).flatMap((row): Item[] => {
        const cells = this.#convert(row);
        const owner = owners.get(cells.user_id);
        if (owner && owner.public !== true) return [];
        const errors = owner
          ? this.#addElement(list, owner, cells)
          : [this.#explainOwner(list, cells.user_id)];
        return errors.map((error) => this.#errorIn(`user_${list}`, row, error));
      });
    }
  }

  /** Adds a row to a list, or returns the errors in the row. */
  #addElement(name: ListName, owner: RawRecord, cells: RawRecord): RowProblem[] {
    owner[name] ??= new Map();
    const list = owner[name] as Map<unknown, unknown>;
    const type = name === "roles" ? "role" : "achievement";
    const { [`${type}_id`]: id, user_id: _, ...reached } = cells;
    if (!this.#known[type].has(id)) return [this.#explainMissing(type, id)];
    if (type === "role") {
      list.set(id, id);
      return [];
    }
    const unlock = { id, ...reached };
    const errors = validateUnlock(unlock);
    const isAdded = errors.length === 0 && isBetter(unlock, list.get(id) as Row | undefined);
    if (isAdded) list.set(id, unlock);
    return errors;
  }

  /**
   * Throws if a user who was not found is in the table of users, because the database then compares
   * the columns with the ids of users in different ways.
   */
  async #checkComparison(): Promise<void> {
    const users = this.#tables.get("users");
    if (!users || !this.#lastUser) return;
    for (const list of lists) {
      const missing = this.#missing[list];
      if (missing.size === 0) continue;
      // An id that the column cannot have is an error for some servers, and that of nobody.
      const found = await users.listByIds([...missing], this.#lastUser.id).catch(() => []);
      const isThere = found.some((row) => missing.has(this.#convert(row).id));
      if (isThere) throw this.#tables.get(`user_${list}`)?.misordered();
    }
  }

  #explainOwner(list: ListName, id: unknown): RowProblem {
    const missing = this.#missing[list];
    if (this.#isId(id) && missing.size < MAX_MISSING) missing.add(id);
    return this.#explainMissing("user", id);
  }

  #explainMissing(type: RecordType, id: unknown): RowProblem {
    const field = `${type}_id`;
    if (!this.#isId(id)) return mustBeId(field, id);
    const kind = `there is no ${type}`;
    return { field, reason: `${kind} ${id}`, kind, missing: { type, id } };
  }

  #errorIn(table: TableName, row: Row, error: RowProblem): Item {
    const cell = row[keyOf(table)];
    const place = this.#placeOf(table, row.line, toKey(cell) ?? cell ?? "NULL");
    const type = table === "users" ? "user" : undefined;
    return { problem: { ...error, type, place }, isFatal: false };
  }

  #placeOf(table: TableName, line: unknown, id: unknown): string {
    const { ending } = this.#source;
    return `${table}.${ending}, ${ending === "csv" ? `line ${line}` : `${keyOf(table)} ${id}`}`;
  }

  #isId(value: unknown): value is number | string {
    if (this.#options.hasKeys) return toKey(value) !== undefined;
    return Number.isSafeInteger(value) && Number(value) > 0;
  }
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Opens a folder of CSV files. */
export function openFolder(folder: string, { idMap, dates, ...reporting }: TableOptions) {
  const options = { ...reporting, hasKeys: idMap !== undefined };
  return new TableReader(openCsv(options.hasKeys, dates), findTables(folder, "csv"), options);
}

/** Opens the database at a URL, with the SELECTs in the folder `queries`. */
export async function openQueries(
  url: string,
  { queries = "", timeoutMs = 120_000, idMap, ...reporting }: TableOptions,
): Promise<TableReader> {
  if (!isFolder(queries)) throw new Error(`${queries} is not a folder`);
  const files = findTables(queries, "sql");
  const options = { ...reporting, hasKeys: idMap !== undefined };
  return new TableReader(await openDatabase(url, timeoutMs), files, options);
}

/** Requests so many items ahead of the one that is used. */
async function* readAhead<Item>(items: AsyncGenerator<Item>, count: number): AsyncGenerator<Item> {
  const requested: Promise<IteratorResult<Item>>[] = [];
  const request = () => {
    const next = items.next();
    // An error is thrown where the item is awaited.
    next.catch(() => {});
    requested.push(next);
  };
  for (let at = 0; at < count; at++) request();
  for (;;) {
    const result = await requested.shift();
    if (!result || result.done) return;
    request();
    yield result.value;
  }
}

/** While rows are added, a list is a map by id. */
function finishLists(owner: RawRecord): void {
  for (const name of lists) {
    if (owner[name] instanceof Map) owner[name] = [...owner[name].values()];
  }
}

function tableOf(type: RecordType): TableName {
  return type === "company" ? "companies" : `${type}s`;
}

/** The highest tier counts, and if several rows have it, the earliest of them. */
function isBetter(unlock: Row, other?: Row): boolean {
  const lead = Number(unlock.tier) - Number(other?.tier ?? -1);
  const secondsOf = (row: Row) => parseTime(String(row.unlocked_at)) ?? 0;
  return lead > 0 || (lead === 0 && other !== undefined && secondsOf(unlock) < secondsOf(other));
}
