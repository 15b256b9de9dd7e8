/**
 * Reads tables in pages of users, and turns their rows into the records that the lines of a dataset
 * are. Rows that belong to no record are reported. Never validates a record.
 */
import type { RawRecord, RecordKey } from "../domain/dataset.ts";
import { parseTime } from "../domain/time.ts";
import { mustBeId, type ValidationError } from "../domain/validation.ts";
import { toInteger, toOptionalText, toPublic, toText, toTime } from "./cells.ts";
import { keyOf, type TableName } from "./columns.ts";

/** The cells of a row by column. `line` is the line in a CSV file. */
export type Row = Record<string, unknown>;

/** The tables of a database or of a folder of CSV files. All queries see the same data. */
export interface Tables extends AsyncDisposable {
  /** The tables that are there, with their columns. */
  readonly columns: ReadonlyMap<TableName, readonly string[]>;
  /** The names of files end in this. A row of a CSV file has the member `line`. */
  readonly ending: "csv" | "sql";
  /** Runs `SELECT <columns> FROM <table> AS q <rest>`. */
  query(table: TableName, rest: string, columns?: string): Promise<Row[]>;
}

/** A record, which has not been validated, except that its id is valid. */
export interface TableRecord {
  type: RecordKey["type"];
  record: RawRecord;
  /** The line of the record's row in a CSV file; otherwise its id. */
  number: number;
  /** For the elements of a user's lists, the lines or user ids of their rows. */
  listRows?: Record<string, number[]>;
}

/** An error in a row that belongs to no record, or in a record. */
export interface RowError extends ValidationError {
  /** For example `users.csv, line 12` or `users.sql, id 42`. */
  place: string;
  /** For a reference to a record that does not exist, the type and id of that record. */
  missing?: RecordKey;
}

type RowProblem = Omit<RowError, "place">;

// The rows of a page are in memory. With 5,000 users, importing 400,000 took 334 instead of 257 MB.
const USERS_PER_PAGE = 1000;
const ROWS_PER_PAGE = 20_000;
const MAX_ID = Number.MAX_SAFE_INTEGER;

/** The columns of roles, achievements and companies that have integers. */
const integers = new Set(["hierarchy", "tier", "points", "member_count"]);

const tableOf = {
  role: "roles",
  achievement: "achievements",
  company: "companies",
  user: "users",
} as const;

export class TableReader {
  private readonly tables: Tables;
  private readonly onRead: (file: string, rows: number) => void;
  /** The ids of the roles and achievements. */
  private readonly known = { role: new Set<number>(), achievement: new Set<number>() };
  /** The number of users by company id. */
  private readonly members = new Map<unknown, number>();

  /** `onRead` is called repeatedly with the number of rows of a file that have been read. */
  constructor(tables: Tables, onRead: (file: string, rows: number) => void = () => {}) {
    this.tables = tables;
    this.onRead = onRead;
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.tables[Symbol.asyncDispose]();
  }

  /** Yields all records and all errors in rows that belong to no record. */
  async *read(): AsyncGenerator<(TableRecord | RowError)[]> {
    for (const table of this.tables.columns.keys()) yield await this.listWithoutId(table);
    await this.countMembers();
    // A user is written with the name of the company, so companies come before users.
    for (const type of ["role", "achievement", "company"] as const) {
      for await (const { items } of this.readRecords(type)) yield items;
    }
    let after = 0;
    for await (const { items, last } of this.readRecords("user")) {
      yield* this.addLists(items, after, last);
      yield items;
      after = last;
    }
    // The rest of the rows belongs to nobody.
    yield* this.addLists([], after, MAX_ID);
  }

  /** Describes an error in a record, so that it names the row and the column. */
  locate(
    error: ValidationError,
    { type, number, listRows }: Omit<TableRecord, "record">,
  ): RowError {
    const [, list = "", at, column = "id"] =
      /^(roles|achievements)\[(\d+)\](?:\.(\w+))?$/.exec(error.field) ?? [];
    const row = listRows?.[list]?.[Number(at)];
    if (row === undefined) {
      const field = error.field.replace(/^company\./, "company_");
      return { ...error, field, place: this.placeOf(tableOf[type], number) };
    }
    const field = column === "id" ? `${list.slice(0, -1)}_id` : column;
    return { ...error, field, place: this.placeOf(`user_${list}`, row) };
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
  private async *pages(
    table: TableName,
    size: number,
    after = 0,
    upTo = MAX_ID,
  ): AsyncGenerator<{ rows: Row[]; last: number }> {
    if (!this.tables.columns.has(table)) return;
    const key = keyOf(table);
    let [from, limit] = [after, size];
    for (;;) {
      // The numbers are written into the text, because with parameters, MariaDB reads whole tables.
      const range = `WHERE q.${key} > ${from} AND q.${key} <= ${upTo}`;
      const rows = await this.tables.query(table, `${range} ORDER BY q.${key} LIMIT ${limit}`);
      const ids = rows.map((row) => Number(row[key]));
      if (!ids.every((id, at) => id >= (ids[at - 1] ?? from) && id <= upTo)) {
        throw new Error(`${table}.${this.tables.ending}: ${key} must be a number, not text`);
      }
      const isFull = rows.length === limit;
      // More rows with the last id may follow, so the next page reads it again.
      const whole = isFull ? rows.slice(0, ids.indexOf(ids.at(-1) ?? 0)) : rows;
      const last = ids[whole.length - 1];
      if (last !== undefined) yield { rows: whole, last };
      if (!isFull) return;
      // A page that is full of rows with one id is read again with more rows.
      limit = last === undefined ? limit * 2 : size;
      from = last ?? from;
    }
  }

  /** Yields the rows of a table as records. */
  private async *readRecords(
    type: RecordKey["type"],
  ): AsyncGenerator<{ items: (TableRecord | RowError)[]; last: number }> {
    const table = tableOf[type];
    let count = 0;
    for await (const { rows, last } of this.pages(table, USERS_PER_PAGE)) {
      const items = rows.map((row): TableRecord | RowError => {
        const id = toInteger(row.id);
        if (!isId(id)) return this.errorIn(table, row, mustBeId("id", id));
        const fields = type === "user" ? convertUser(row) : this.convertOther(type, row, id);
        const record = { type, id, ...defined(fields) };
        return { type, record, number: Number(row.line ?? id) };
      });
      count += rows.length;
      this.onRead(`${table}.${this.tables.ending}`, count);
      yield { items, last };
    }
  }

  private convertOther(type: "role" | "achievement" | "company", row: Row, id: number): RawRecord {
    const { id: _, line, ...cells } = row;
    const fields: RawRecord = Object.fromEntries(
      Object.entries(cells).map(([name, cell]) => [
        name,
        integers.has(name) ? toInteger(cell) : toText(cell),
      ]),
    );
    if (type === "company") fields.member_count ??= this.members.get(id) ?? 0;
    else this.known[type].add(id);
    return fields;
  }

  /** Counts how many users each company has. */
  private async countMembers(): Promise<void> {
    const { columns: tables } = this.tables;
    if (!tables.has("companies") || !tables.get("users")?.includes("company_id")) return;
    const columns = "q.company_id AS company_id, COUNT(*) AS members";
    for (const row of await this.tables.query("users", "GROUP BY q.company_id", columns)) {
      const id = toInteger(row.company_id);
      this.members.set(id, (this.members.get(id) ?? 0) + Number(row.members));
    }
  }

  /**
   * Adds roles and achievements to the users among `items`, who have the ids above `after` and up
   * to `upTo`. Yields the errors in rows that belong to no user or to no role or achievement.
   */
  private async *addLists(
    items: (TableRecord | RowError)[],
    after: number,
    upTo: number,
  ): AsyncGenerator<RowError[]> {
    for (const type of ["role", "achievement"] as const) {
      const table = `user_${type}s` as const;
      const users = new Map<unknown, { user: TableRecord; list: Map<unknown, Element> }>();
      for (const user of items) {
        if ("record" in user) users.set(user.record.id, { user, list: new Map() });
      }
      for await (const { rows } of this.pages(table, ROWS_PER_PAGE, after, upTo)) {
        yield rows.flatMap((row) => {
          const userId = toInteger(row.user_id);
          const lists = users.get(userId);
          let error: RowProblem | undefined;
          if (!lists) error = isId(userId) ? missing("user", userId) : mustBeId("user_id", userId);
          else if (lists.user.record.public === true)
            error = this.addElement(type, lists.list, row);
          return error ? [this.errorIn(table, row, error)] : [];
        });
      }
      for (const { user, list } of users.values()) {
        if (user.record.public !== true) continue;
        user.record[`${type}s`] = Array.from(list.values(), ({ value }) => value);
        const numbers = Array.from(list.values(), ({ number }) => number);
        user.listRows = { ...user.listRows, [`${type}s`]: numbers };
      }
    }
  }

  /** Adds a row to a list. The best row of each achievement is kept, and one row of each role. */
  private addElement(
    type: "role" | "achievement",
    list: Map<unknown, Element>,
    row: Row,
  ): RowProblem | undefined {
    const id = toInteger(row[`${type}_id`]);
    if (isId(id) && !this.known[type].has(id)) return missing(type, id);
    const number = Number(row.line ?? row.user_id);
    if (type === "role") {
      if (!list.has(id)) list.set(id, { value: id, number });
      return undefined;
    }
    const other = list.get(id)?.value;
    const { tier, unlocked_at } = row;
    const value = defined({ id, tier: toInteger(tier), unlocked_at: toTime(unlocked_at) });
    const areValid = isUnlock(other) && isUnlock(value);
    if (!other || (areValid && isBetter(value, other))) list.set(id, { value, number });
    // An invalid row stays beside the others, so that it is reported.
    else if (!areValid) list.set(value, { value, number });
    return undefined;
  }
}

/** An element of a user's list, with the number of its row. */
interface Element {
  value: unknown;
  number: number;
}

/** For a private user, the id is enough. */
function convertUser(row: Row): RawRecord {
  const isPublic = toPublic(row.public);
  if (isPublic === false) return { public: false };
  const company = toInteger(row.company_id);
  const role = toOptionalText(row.company_role) ?? "Member";
  return {
    public: isPublic,
    name: toText(row.name),
    created_at: toTime(row.created_at),
    avatar_url: toOptionalText(row.avatar_url),
    company: company === undefined ? undefined : { id: company, role },
  };
}

interface Unlock {
  tier: number;
  unlocked_at: string;
}

function isUnlock(value: unknown): value is Unlock {
  const { tier, unlocked_at } = (value ?? {}) as RawRecord;
  const isTime = typeof unlocked_at === "string" && parseTime(unlocked_at) !== undefined;
  return isTime && Number.isSafeInteger(tier) && Number(tier) >= 0;
}

/** The highest tier counts, and of several rows with that tier the earliest. */
function isBetter(a: Unlock, b: Unlock): boolean {
  return a.tier > b.tier || (a.tier === b.tier && a.unlocked_at < b.unlocked_at);
}

function isId(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}

function missing(type: RecordKey["type"], id: number): RowProblem {
  const kind = `there is no ${type}`;
  return { field: `${type}_id`, reason: `${kind} ${id}`, kind, missing: { type, id } };
}

/** Leaves out the members that are undefined, which validation then reports as missing. */
function defined(values: RawRecord): RawRecord {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
