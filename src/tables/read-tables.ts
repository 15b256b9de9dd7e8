/**
 * Reads tables in pages of users, and turns their rows into records, like the lines of a dataset.
 * Reports rows that belong to no record, and invalid rows of users' roles and achievements. Every
 * other row is validated later, like a line.
 */
import type { RawRecord, RecordKey } from "../domain/dataset.ts";
import { Count } from "../domain/model.ts";
import { parseTime } from "../domain/time.ts";
import {
  DUPLICATE_ID,
  mustBe,
  mustBeId,
  mustBeTime,
  type ValidationError,
} from "../domain/validation.ts";
import { toCompany, toInteger, toOptionalText, toPublic, toText, toTime } from "./cells.ts";
import { type Header, keyOf, type TableName, type UnknownColumn } from "./columns.ts";

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
  /** Called once for each table with its file, before it is queried. */
  open(table: TableName, path: string): Promise<Header>;
  /** Runs `SELECT <columns> FROM <table> AS q <rest>`. */
  query(table: TableName, rest: string, columns?: string): Promise<Row[]>;
}

/** A record of which only the id has been validated. */
export interface TableRecord {
  type: RecordType;
  record: RawRecord;
  /** The line of the record's row in a CSV file; otherwise its id. */
  number: number;
  /** The line of the first row with the same id. */
  first?: unknown;
}

/** An error in a row that belongs to no record, or in a record. */
export interface RowError extends ValidationError {
  /** For example `users.csv, line 12` or `users.sql, id 42`. */
  place: string;
  /** For a reference to a record that does not exist, the type and id of that record. */
  missing?: RecordKey;
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
const integers = "id user_id role_id achievement_id hierarchy tier points member_count";
for (const name of integers.split(" ")) converters[name] = toInteger;

export class TableReader {
  private readonly tables: Tables;
  private readonly files: ReadonlyMap<TableName, string>;
  private readonly reporting: Reporting;
  readonly unknownColumns: UnknownColumn[] = [];
  readonly slowQueries: string[] = [];
  private readonly columns = new Map<TableName, Header["places"]>();
  /** The ids of the roles and achievements. */
  private readonly known = { role: new Set<unknown>(), achievement: new Set<unknown>() };
  /** The number of users by company id. */
  private readonly members = new Map<unknown, number>();

  constructor(tables: Tables, files: ReadonlyMap<TableName, string>, reporting: Reporting) {
    this.tables = tables;
    this.files = files;
    this.reporting = reporting;
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
    for (const table of this.files.keys()) yield await this.listWithoutId(table);
    await this.countMembers();
    // A user is written with the name of the company, so companies come before users.
    for (const type of ["role", "achievement", "company"] as const) yield* this.readRecords(type);
    let after = 0;
    for await (const users of this.readRecords("user")) {
      const records = users.filter((item) => "record" in item).map(({ record }) => record);
      const upTo = Number(records.at(-1)?.id ?? after);
      yield* this.addLists(records, after, upTo);
      yield users;
      after = upTo;
    }
    // The remaining rows belong to no user.
    yield* this.addLists([], after, MAX_ID);
  }

  /** Describes an error in a record, so that it names the row and the column. */
  locate(error: ValidationError, { type, number, first }: Omit<TableRecord, "record">): RowError {
    const field = error.field.replace(/^company\./, "company_");
    const isRepeated = error.kind === DUPLICATE_ID && first !== undefined;
    const reason = isRepeated ? `${error.reason} (first on line ${first})` : error.reason;
    return { ...error, field, reason, place: this.placeOf(tableOf(type), number) };
  }

  private placeOf(table: string, number: unknown): string {
    const { ending } = this.tables;
    return `${table}.${ending}, ${ending === "csv" ? "line" : keyOf(table)} ${number}`;
  }

  private errorIn(table: TableName, row: Row, error: RowProblem): RowError {
    return { ...error, place: this.placeOf(table, row.line ?? row[keyOf(table)] ?? "NULL") };
  }

  /** Lists the rows that the pages leave out, because their id is not from 1 to 2^53 − 1. */
  private async listWithoutId(table: TableName): Promise<RowError[]> {
    const key = keyOf(table);
    const isOutside = `WHERE q.${key} IS NULL OR q.${key} <= 0 OR q.${key} > ${MAX_ID}`;
    const rows = await this.tables.query(table, isOutside);
    return rows.map((row) => this.errorIn(table, row, mustBeId(key, toInteger(row[key]))));
  }

  /**
   * Yields the rows whose id is above `after` and at most `upTo`, in ascending order of their ids.
   * Rows with the same id are in the same page.
   */
  private async *pages(table: TableName, after = 0, upTo = MAX_ID): AsyncGenerator<Row[]> {
    if (!this.columns.has(table)) return;
    const key = keyOf(table);
    const size = key === "id" ? USERS_PER_PAGE : ROWS_PER_PAGE;
    let [from, limit] = [after, size];
    for (;;) {
      // The numbers are written into the text, because with parameters, MariaDB reads whole tables.
      const range = `WHERE q.${key} > ${from} AND q.${key} <= ${upTo}`;
      const began = performance.now();
      const rows = await this.tables.query(table, `${range} ORDER BY q.${key} LIMIT ${limit}`);
      if (performance.now() - began > SLOW_MS) this.addSlow(table);
      const ids = rows.map((row) => Number(row[key]));
      if (!ids.every((id, at) => id >= (ids[at - 1] ?? from) && id <= upTo)) {
        throw new Error(`${table}.${this.tables.ending}: ${key} must be a number, not text`);
      }
      const isFull = rows.length === limit;
      // More rows with the last id may follow, so the next page reads it again.
      const whole = isFull ? rows.slice(0, ids.indexOf(ids.at(-1) ?? 0)) : rows;
      if (whole.length > 0) yield whole;
      if (!isFull) return;
      // A page that is full of rows with one id is read again with more rows.
      limit = whole.length === 0 ? limit * 2 : size;
      from = ids[whole.length - 1] ?? from;
    }
  }

  private addSlow(table: TableName): void {
    const query = `${table}.sql`;
    if (this.tables.ending === "csv" || this.slowQueries.includes(query)) return;
    this.slowQueries.push(query);
    this.reporting.onSlow?.(query);
  }

  private async *readRecords(type: RecordType): AsyncGenerator<Items> {
    const table = tableOf(type);
    let count = 0;
    if (this.columns.has(table)) this.reporting.onRead?.(`${table}.${this.tables.ending}`, count);
    for await (const rows of this.pages(table)) {
      count += rows.length;
      this.reporting.onRead?.(`${table}.${this.tables.ending}`, count);
      let first: Row = {};
      yield rows.map((row) => {
        if (row.id !== first.id) first = row;
        return { ...this.toRecord(type, row), first: first.line };
      });
    }
  }

  private toRecord(type: RecordType, row: Row): TableRecord | RowError {
    const { company_id, company_role = "Member", ...fields } = convert(row);
    const { id } = fields;
    if (!isId(id)) return this.errorIn(tableOf(type), row, mustBeId("id", id));
    const number = Number(row.line ?? id);
    // For a private user, the id is enough.
    if (fields.public === false) return { type, record: { type, id, public: false }, number };
    if (company_id !== undefined) fields.company = { id: company_id, role: company_role };
    if (type === "company") fields.member_count ??= this.members.get(id) ?? 0;
    if (type === "role" || type === "achievement") this.known[type].add(id);
    return { type, record: { type, ...fields }, number };
  }

  /** Counts how many users each company has. */
  private async countMembers(): Promise<void> {
    if (!this.columns.get("users")?.has("company_id")) return;
    const columns = "q.company_id AS company_id, COUNT(*) AS members";
    for (const row of await this.tables.query("users", "GROUP BY q.company_id", columns)) {
      const id = toInteger(row.company_id);
      this.members.set(id, (this.members.get(id) ?? 0) + Number(row.members));
    }
  }

  /**
   * Adds roles and achievements to the public users among `records`, who have the ids above `after`
   * and up to `upTo`. Yields the errors in the rows.
   */
  private async *addLists(records: RawRecord[], after: number, upTo: number) {
    for (const type of ["role", "achievement"] as const) {
      const users = new Map(records.map((record) => [record.id, { record, list: new Map() }]));
      for await (const rows of this.pages(`user_${type}s`, after, upTo)) {
        yield rows.flatMap((row) => {
          const cells = convert(row);
          const user = users.get(cells.user_id);
          if (user && user.record.public !== true) return [];
          const error = user
            ? this.addElement(type, user.list, cells)
            : findMissing("user", cells.user_id, false);
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
    const error = findMissing(type, id, this.known[type].has(id));
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
}

/** Converts the cells of a row. Leaves out null, so that validation reports what is missing. */
function convert({ line, ...cells }: Row): RawRecord {
  const fields: RawRecord = {};
  for (const [name, cell] of Object.entries(cells)) {
    const value = (converters[name] ?? toText)(cell);
    if (value !== undefined) fields[name] = value;
  }
  return fields;
}

function tableOf(type: RecordType): TableName {
  return type === "company" ? "companies" : `${type}s`;
}

function isId(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}

function findMissing(type: RecordType, id: unknown, isKnown: boolean): RowProblem | undefined {
  const field = `${type}_id`;
  if (!isId(id)) return mustBeId(field, id);
  if (isKnown) return undefined;
  const kind = `there is no ${type}`;
  return { field, reason: `${kind} ${id}`, kind, missing: { type, id } };
}
