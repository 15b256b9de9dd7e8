/**
 * Reads tables in pages of users, and turns their rows into records, like the lines of a dataset.
 * Reports rows that belong to no record, and invalid rows of users' roles and achievements. Every
 * other row is validated later, like a line.
 */
import type { RawRecord, RecordKey } from "../domain/dataset.ts";
import {
  DUPLICATE_ID,
  mustBe,
  mustBeId,
  mustBeTime,
  toKey,
  type ValidationError,
} from "../domain/invalid-values.ts";
import { Count } from "../domain/model.ts";
import { parseTime } from "../domain/time.ts";
import { toCompany, toInteger, toOptionalText, toPublic, toText, toTime } from "./cells.ts";
import { type Header, keyOf, type TableName, type UnknownColumn } from "./columns.ts";
import { type Dialect, formatLiteral } from "./literal.ts";

/** The cells of a row by column. `line` is the line in a CSV file. */
export type Row = Record<string, unknown>;

export interface Reporting {
  /** Called repeatedly with the number of rows of a file that have been read. */
  onRead?: ((file: string, rows: number) => void) | undefined;
  /** Called once for each query of which a page takes longer than half a second. */
  onSlow?: ((file: string) => void) | undefined;
}

/** The tables of a database or of a folder of CSV files. All queries see the same data. */
export interface Tables extends AsyncDisposable {
  /** The file name extension. A row of a CSV file has the member `line`. */
  readonly ending: "csv" | "sql";
  readonly dialect: Dialect;
  /** Called once for each table with its file, before it is queried. */
  open(table: TableName, path: string): Promise<Header>;
  /** Runs `SELECT <columns> FROM <table> AS q <rest>`. */
  query(table: TableName, rest: string, columns?: string): Promise<Row[]>;
}

/** A record of which only the id has been validated. With an id map, its ids are keys. */
export interface TableRecord {
  type: RecordType;
  record: RawRecord;
  /** The line of the record's row in a CSV file. */
  line?: number;
  /** The line of the first row with the same id. */
  first?: unknown;
}

/** An error in a row that belongs to no record, or in a record. */
export interface RowError extends ValidationError {
  /** For example `users.csv, line 12` or `users.sql, id 42`. */
  place: string;
  /** For a reference to a record that does not exist, the type and id of that record. */
  missing?: { type: RecordType; id: number | string };
}

type RecordType = RecordKey["type"];
type RowProblem = Omit<RowError, "place">;
type Items = (TableRecord | RowError)[];

// The rows of a page are in memory. With 5,000 users, importing 400,000 took 334 instead of 257 MB.
const USERS_PER_PAGE = 1000;
const ROWS_PER_PAGE = 20_000;
/** A page of a query that uses an index takes a few milliseconds. */
const SLOW_MS = 500;
const MAX_ID = Number.MAX_SAFE_INTEGER;

/** How the cells of a column are converted. Other columns have text. */
const converters: Partial<Record<string, (cell: unknown) => unknown>> = {
  public: toPublic,
  created_at: toTime,
  unlocked_at: toTime,
  company_id: toCompany,
  avatar_url: toOptionalText,
  company_role: toOptionalText,
};
const ids = "id user_id role_id achievement_id".split(" ");
for (const name of [...ids, "hierarchy", "tier", "points", "member_count"]) {
  converters[name] = toInteger;
}
const toId = (cell: unknown) => toKey(cell) ?? toInteger(cell);
const keyConverters = { ...converters };
for (const name of ids) keyConverters[name] = toId;
keyConverters.company_id = (cell) => (toCompany(cell) === undefined ? undefined : toId(cell));

export class TableReader {
  private readonly tables: Tables;
  private readonly files: ReadonlyMap<TableName, string>;
  private readonly reporting: Reporting;
  readonly unknownColumns: UnknownColumn[] = [];
  readonly slowQueries: string[] = [];
  private readonly hasKeys: boolean;
  private readonly converters: typeof converters;
  private readonly columns = new Map<TableName, Header["places"]>();
  /** The ids of the roles and achievements. */
  private readonly known = { role: new Set<unknown>(), achievement: new Set<unknown>() };
  /** The number of users by company id. */
  private readonly members = new Map<unknown, number>();
  /** With keys, how many rows of each table have not been read. */
  private readonly unread = new Map<TableName, number>();

  /** With `hasKeys`, ids can be of any kind; see {@link toKey}. */
  constructor(
    tables: Tables,
    files: ReadonlyMap<TableName, string>,
    reporting: Reporting,
    hasKeys: boolean,
  ) {
    this.tables = tables;
    this.files = files;
    this.reporting = reporting;
    this.hasKeys = hasKeys;
    this.converters = hasKeys ? keyConverters : converters;
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.tables[Symbol.asyncDispose]();
  }

  /** Yields all records, and the errors in all other rows. */
  async *read(): AsyncGenerator<Items> {
    for (const [table, path] of this.files) {
      const { places, unknown } = await this.tables.open(table, path);
      this.columns.set(table, places);
      this.unknownColumns.push(...unknown);
    }
    await this.checkIds();
    for (const table of this.files.keys()) yield await this.listWithoutId(table);
    await this.countMembers();
    // A user is written with the name of the company, so companies come before users.
    for (const type of ["role", "achievement", "company"] as const) {
      for await (const rows of this.pages(tableOf(type))) {
        yield this.toRecords(type, rows);
      }
    }
    let after: unknown;
    for await (const rows of this.pages("users")) {
      const users = this.toRecords("user", rows);
      const records = users.filter((item) => "record" in item).map(({ record }) => record);
      const upTo = rows.at(-1)?.id;
      yield* this.addLists(records, after, upTo);
      yield users;
      after = upTo;
    }
    // The remaining rows belong to no user.
    yield* this.addLists([], after);
    if (this.hasKeys) for (const table of this.files.keys()) this.checkOrder(table, [], true);
  }

  /** Describes an error in a record, so that it names the row and the column. */
  locate(error: ValidationError, type: RecordType, { line, id, first }: Row): RowError {
    const field = error.field.replace(/^company\./, "company_");
    const isRepeated = error.kind === DUPLICATE_ID && first !== undefined;
    const reason = isRepeated ? `${error.reason} (first on line ${first})` : error.reason;
    return { ...error, field, reason, place: this.placeOf(tableOf(type), line, id) };
  }

  private placeOf(table: string, line: unknown, id: unknown): string {
    const { ending } = this.tables;
    return `${table}.${ending}, ${ending === "csv" ? `line ${line}` : `${keyOf(table)} ${id}`}`;
  }

  private errorIn(table: TableName, row: Row, error: RowProblem): RowError {
    const cell = row[keyOf(table)];
    return { ...error, place: this.placeOf(table, row.line, toKey(cell) ?? cell ?? "NULL") };
  }

  /** Checks the type of each table's ids by the first of them, and with keys, counts the rows. */
  private async checkIds(): Promise<void> {
    let userType = "";
    for (const table of this.files.keys()) {
      const key = keyOf(table);
      const where = `WHERE q.${key} IS NOT NULL LIMIT 1`;
      const [first] = await this.tables.query(table, where, `q.${key} AS id`);
      if (!first) continue;
      const type = typeof first.id === "bigint" ? "number" : typeof first.id;
      if (table === "users") userType = type;
      const isNumber = /number|bigint/.test(typeof toInteger(first.id));
      // In SQLite, each row can have a type of its own.
      if (!this.hasKeys && !isNumber && this.tables.dialect !== "sqlite") {
        throw new Error(`${table}.sql: ${key}: ${mustBeId(key, first.id).reason}`);
      }
      if (this.hasKeys && key === "user_id" && userType !== "" && type !== userType) {
        throw new Error(`${table}.sql: user_id must have the same type as id in users.sql`);
      }
      if (!this.hasKeys) continue;
      const [counted] = await this.tables.query(table, "", `COUNT(q.${key}) AS total`);
      this.unread.set(table, Number(counted?.total));
    }
  }

  /** Lists the rows that the pages leave out, because their id is not from 1 to 2^53 − 1. */
  private async listWithoutId(table: TableName): Promise<RowError[]> {
    const key = keyOf(table);
    const isOutside = this.hasKeys ? "" : ` OR q.${key} <= 0 OR q.${key} > ${MAX_ID}`;
    const rows = await this.tables.query(table, `WHERE q.${key} IS NULL${isOutside}`);
    return rows.map((row) => this.errorIn(table, row, mustBeId(key, toInteger(row[key]))));
  }

  /**
   * Yields the rows whose id is above `after` and at most `upTo`, in the database's order of their
   * ids. Rows whose ids are equal for the database are in the same page.
   */
  private async *pages(table: TableName, after?: unknown, upTo?: unknown): AsyncGenerator<Row[]> {
    if (!this.columns.has(table)) return;
    const key = `q.${keyOf(table)}`;
    const size = keyOf(table) === "id" ? USERS_PER_PAGE : ROWS_PER_PAGE;
    const max = this.hasKeys ? "" : ` AND ${key} <= ${MAX_ID}`;
    const end = upTo === undefined ? max : ` AND ${key} <= ${this.literal(upTo)}`;
    const min = this.hasKeys ? `${key} IS NOT NULL` : `${key} > 0`;
    let start = after === undefined ? min : `${key} > ${this.literal(after)}`;
    const idOf = (row: Row) => this.literal(row[keyOf(table)]);
    const file = `${table}.${this.tables.ending}`;
    if (key === "q.id") this.reporting.onRead?.(file, 0);
    for (let count = 0, isFull = true; isFull; ) {
      // The ids are written into the text, because with parameters, MariaDB reads whole tables.
      const range = `WHERE ${start}${end} ORDER BY ${key} LIMIT ${size + 1}`;
      const began = performance.now();
      let rows = await this.tables.query(table, range);
      if (performance.now() - began > SLOW_MS) this.addSlow(table);
      isFull = rows.length > size;
      const [next] = rows.splice(size);
      const [last] = rows.slice(-1).map(idOf);
      // A collation can equate ids that differ, such as a and A, so only the database can tell.
      if (next && (typeof next[keyOf(table)] === "string" || idOf(next) === last)) {
        const ties = await this.tables.query(table, `WHERE ${key} = ${last}`);
        const tied = new Set(ties.map(idOf));
        const untied = rows.findLastIndex((row) => !tied.has(idOf(row))) + 1;
        rows = [...rows.slice(0, untied), ...ties];
      }
      count += rows.length;
      this.checkOrder(table, rows);
      if (key === "q.id") this.reporting.onRead?.(file, count);
      if (rows.length > 0) yield rows;
      start = `${key} > ${last}`;
    }
  }

  private addSlow(table: TableName): void {
    const query = `${table}.sql`;
    if (this.tables.ending === "csv" || this.slowQueries.includes(query)) return;
    this.slowQueries.push(query);
    this.reporting.onSlow?.(query);
  }

  /** Throws if rows may be lost, because the database does not sort ids as it compares them. */
  private checkOrder(table: TableName, rows: Row[], isLast = false): void {
    const key = keyOf(table);
    const ids = rows.map((row) => Number(row[key]));
    const unread = (this.unread.get(table) ?? 0) - rows.length;
    this.unread.set(table, unread);
    const isComplete = () => unread === 0 || (unread > 0 && !isLast);
    const isAscending = () => ids.every((id, at) => id >= (ids[at - 1] ?? 0));
    if (this.hasKeys ? isComplete() : isAscending()) return;
    const problem = this.hasKeys
      ? "is not sorted as it is compared; CAST it to text"
      : "must be a number, not text; such ids need --id-map FILE";
    throw new Error(`${table}.${this.tables.ending}: ${key} ${problem}`);
  }

  private literal(id: unknown): string {
    return this.hasKeys ? formatLiteral(this.tables.dialect, id) : String(Number(id));
  }

  private toRecords(type: RecordType, rows: Row[]): Items {
    let first: Row = {};
    return rows.map((row) => {
      if (row.id !== first.id) first = row;
      return { ...this.toRecord(type, row), first: first.line };
    });
  }

  private toRecord(type: RecordType, row: Row): TableRecord | RowError {
    const { company_id, company_role = "Member", ...fields } = this.convert(row);
    const { id } = fields;
    if (!this.isId(id)) return this.errorIn(tableOf(type), row, mustBeId("id", id));
    const line = row.line === undefined ? {} : { line: Number(row.line) };
    // For a private user, the id is enough.
    if (fields.public === false) return { type, record: { type, id, public: false }, ...line };
    if (company_id !== undefined) fields.company = { id: company_id, role: company_role };
    if (type === "company") fields.member_count ??= this.members.get(id) ?? 0;
    if (type === "role" || type === "achievement") this.known[type].add(id);
    return { type, record: { type, ...fields }, ...line };
  }

  /** Counts how many users each company has. */
  private async countMembers(): Promise<void> {
    if (!this.columns.get("users")?.has("company_id")) return;
    const columns = "q.company_id AS company_id, COUNT(*) AS members";
    for (const row of await this.tables.query("users", "GROUP BY q.company_id", columns)) {
      const id = this.convert(row).company_id;
      this.members.set(id, (this.members.get(id) ?? 0) + Number(row.members));
    }
  }

  /**
   * Adds roles and achievements to the public users among `records`, who have the ids above `after`
   * and up to `upTo`. Yields the errors in the rows.
   */
  private async *addLists(records: RawRecord[], after: unknown, upTo?: unknown) {
    for (const type of ["role", "achievement"] as const) {
      const users = new Map(records.map((record) => [record.id, { record, list: new Map() }]));
      for await (const rows of this.pages(`user_${type}s`, after, upTo)) {
        yield rows.flatMap((row) => {
          const cells = this.convert(row);
          const user = users.get(cells.user_id);
          if (user && user.record.public !== true) return [];
          const error = user
            ? this.addElement(type, user.list, cells)
            : this.findMissing("user", cells.user_id, false);
          return error ? [this.errorIn(`user_${type}s`, row, error)] : [];
        });
      }
      for (const { record, list } of users.values()) {
        if (record.public === true) record[`${type}s`] = [...list.values()];
      }
    }
  }

  /** Adds a row to a list. The best row of each achievement is kept, and one row of each role. */
  private addElement(
    type: "role" | "achievement",
    list: Map<unknown, unknown>,
    { [`${type}_id`]: id, tier, unlocked_at }: Row,
  ): RowProblem | undefined {
    const error = this.findMissing(type, id, this.known[type].has(id));
    if (error) return error;
    if (type === "role") return void list.set(id, id);
    const isCount = Number.isSafeInteger(tier) && Number(tier) >= 0;
    if (!isCount) return mustBe("tier", Count.description ?? "", tier);
    const seconds = parseTime(String(unlocked_at));
    if (seconds === undefined) {
      return mustBeTime("unlocked_at", unlocked_at);
    }
    // The highest tier counts, and if several rows have it, the earliest of them.
    const other = list.get(id) as { tier: number; unlocked_at: string } | undefined;
    const lead = Number(tier) - (other?.tier ?? -1);
    if (lead > 0 || (lead === 0 && seconds < (parseTime(other?.unlocked_at ?? "") ?? 0))) {
      list.set(id, { id, tier, unlocked_at });
    }
    return undefined;
  }

  /** Converts the cells of a row. Leaves out null, so that validation reports what is missing. */
  private convert({ line, ...cells }: Row): RawRecord {
    const fields: RawRecord = {};
    for (const [name, cell] of Object.entries(cells)) {
      const value = (this.converters[name] ?? toText)(cell);
      if (value !== undefined) fields[name] = value;
    }
    return fields;
  }

  private isId(value: unknown): value is number | string {
    if (this.hasKeys) return toKey(value) !== undefined;
    return Number.isSafeInteger(value) && Number(value) > 0;
  }

  private findMissing(type: RecordType, id: unknown, isKnown: boolean): RowProblem | undefined {
    if (isKnown) return undefined;
    const field = `${type}_id`;
    if (!this.isId(id)) return mustBeId(field, id);
    const kind = `there is no ${type}`;
    return { field, reason: `${kind} ${id}`, kind, missing: { type, id } };
  }
}

function tableOf(type: RecordType): TableName {
  return type === "company" ? "companies" : `${type}s`;
}
