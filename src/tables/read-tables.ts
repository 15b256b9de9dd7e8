/**
 * Turns the rows of tables into records, which are validated later, like the lines of a dataset.
 * Reports rows without a record, and invalid rows of users' roles and achievements.
 */
import { type RawRecord, type RecordKey, validateUnlock } from "../domain/dataset.ts";
import { parseTime } from "../domain/time.ts";
import {
  DUPLICATE_ID,
  mustBeId,
  toKey,
  type ValidationError,
} from "../domain/validation-errors.ts";
import { createConverter } from "./cells.ts";
import { keyOf, type TableName, type UnknownColumn } from "./columns.ts";
import { openTable, type Reporting, type Row, type Source, type Table } from "./queries.ts";

/** A record with a valid id. With an id map, its ids are keys. */
export interface TableRecord {
  record: RawRecord;
  /** The line of the record's row in a CSV file. */
  line: number | undefined;
  /** The line of the first row with the same id. */
  first?: unknown;
}

/** An error in a row that belongs to no record, or in a record. */
export interface RowError extends ValidationError {
  /** For example `users.csv, line 12` or `users.sql, id 42`. */
  place: string;
  /** The record that a reference does not find. */
  missing?: { type: RecordType; id: number | string };
}

interface TableReaderOptions extends Reporting {
  /** Whether ids can be of any kind; see {@link toKey}. */
  hasKeys: boolean;
}

type RecordType = RecordKey["type"];
type RowProblem = Omit<RowError, "place">;
type Items = (TableRecord | RowError)[];

export class TableReader {
  readonly unknownColumns: UnknownColumn[] = [];
  private readonly source: Source;
  private readonly files: ReadonlyMap<TableName, string>;
  private readonly options: TableReaderOptions;
  private readonly convert: (row: Row) => RawRecord;
  private readonly tables = new Map<TableName, Table>();
  /** The ids of the roles and achievements. */
  private readonly known = { role: new Set<unknown>(), achievement: new Set<unknown>() };
  /** The number of users by company id. */
  private readonly members = new Map<unknown, number>();

  constructor(source: Source, files: ReadonlyMap<TableName, string>, options: TableReaderOptions) {
    this.source = source;
    this.files = files;
    this.options = options;
    this.convert = createConverter(options.hasKeys);
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.source[Symbol.asyncDispose]();
  }

  /** Yields all records, and the errors in all other rows. */
  async *read(): AsyncGenerator<Items> {
    for (const [name, path] of this.files) {
      const table = await openTable(this.source, name, path, this.options);
      this.tables.set(name, table);
      this.unknownColumns.push(...table.header.unknown);
    }
    for (const [name, table] of this.tables) {
      const rows = await table.listWithoutId();
      yield rows.map((row) => this.errorIn(name, row, mustBeId(keyOf(name), undefined)));
    }
    await this.countMembers();
    // A user is written with the name of the company, so companies come before users.
    for (const type of ["role", "achievement", "company"] as const) {
      for await (const rows of this.pages(tableOf(type))) yield this.toRecords(type, rows);
    }
    let after: Row | undefined;
    for await (const rows of this.pages("users")) {
      const users = this.toRecords("user", rows);
      const records = users.filter((item) => "record" in item).map(({ record }) => record);
      yield* this.addLists(records, after, rows.at(-1));
      yield users;
      after = rows.at(-1);
    }
    // The remaining rows belong to no user.
    yield* this.addLists([], after);
    for (const table of this.tables.values()) table.finish();
  }

  /** Adds the row and the column to an error in a record. */
  locate(error: ValidationError, type: RecordType, { line, id, first }: Row): RowError {
    const field = error.field.replace(/^company\./, "company_");
    const isRepeated = error.kind === DUPLICATE_ID && first !== undefined;
    const reason = isRepeated ? `${error.reason} (first on line ${first})` : error.reason;
    return { ...error, field, reason, place: this.placeOf(tableOf(type), line, id) };
  }

  private placeOf(table: TableName, line: unknown, id: unknown): string {
    const { ending } = this.source;
    return `${table}.${ending}, ${ending === "csv" ? `line ${line}` : `${keyOf(table)} ${id}`}`;
  }

  private errorIn(table: TableName, row: Row, error: RowProblem): RowError {
    const cell = row[keyOf(table)];
    return { ...error, place: this.placeOf(table, row.line, toKey(cell) ?? cell ?? "NULL") };
  }

  private pages(table: TableName, after?: Row, upTo?: Row) {
    return this.tables.get(table)?.pages(after, upTo) ?? [];
  }

  private toRecords(type: RecordType, rows: Row[]): Items {
    let first: Row = {};
    return rows.map((row) => {
      const { company_id, company_role = "Member", ...fields } = this.convert(row);
      const { id } = fields;
      if (!this.isId(id)) return this.errorIn(tableOf(type), row, mustBeId("id", id));
      if (row.id !== first.id) first = row;
      const lines = { line: row.line as number | undefined, first: first.line };
      // For a private user, the id is enough.
      if (fields.public === false) return { record: { type, id, public: false }, ...lines };
      if (company_id !== undefined) fields.company = { id: company_id, role: company_role };
      if (type === "company") fields.member_count ??= this.members.get(id) ?? 0;
      if (type === "role" || type === "achievement") this.known[type].add(id);
      return { record: { type, ...fields }, ...lines };
    });
  }

  /** Counts how many users each company has. */
  private async countMembers(): Promise<void> {
    const users = this.tables.get("users");
    if (!users?.header.places.has("company_id")) return;
    const columns = "q.company_id AS company_id, COUNT(*) AS members";
    for (const row of await users.query("GROUP BY q.company_id", columns)) {
      const id = this.convert(row).company_id;
      this.members.set(id, (this.members.get(id) ?? 0) + Number(row.members));
    }
  }

  /**
   * Adds roles and achievements to the public users among `records`, whose rows come after `after`
   * up to `upTo`. Yields the errors in the rows.
   */
  private async *addLists(records: RawRecord[], after: Row | undefined, upTo?: Row) {
    for (const type of ["role", "achievement"] as const) {
      const lists = new Map(records.map((user) => [user.id, user.public === true && new Map()]));
      for await (const rows of this.pages(`user_${type}s`, after, upTo)) {
        yield rows.flatMap((row) => {
          const cells = this.convert(row);
          const list = lists.get(cells.user_id);
          if (list === false) return [];
          const errors = list
            ? this.addElement(type, list, cells)
            : [this.explainMissing("user", cells.user_id)];
          return errors.map((error) => this.errorIn(`user_${type}s`, row, error));
        });
      }
      for (const user of records) {
        const list = lists.get(user.id);
        if (list) user[`${type}s`] = [...list.values()];
      }
    }
  }

  /** Adds a row to a list, or returns the errors in the row. */
  private addElement(
    type: "role" | "achievement",
    list: Map<unknown, unknown>,
    { [`${type}_id`]: id, tier, unlocked_at }: Row,
  ): RowProblem[] {
    if (!this.known[type].has(id)) return [this.explainMissing(type, id)];
    if (type === "role") {
      list.set(id, id);
      return [];
    }
    const unlock = { id, tier, unlocked_at };
    const errors = validateUnlock(unlock);
    if (errors.length === 0 && isBetter(unlock, list.get(id) as Row | undefined))
      list.set(id, unlock);
    return errors;
  }

  private isId(value: unknown): value is number | string {
    if (this.options.hasKeys) return toKey(value) !== undefined;
    return Number.isSafeInteger(value) && Number(value) > 0;
  }

  private explainMissing(type: RecordType, id: unknown): RowProblem {
    const field = `${type}_id`;
    if (!this.isId(id)) return mustBeId(field, id);
    const kind = `there is no ${type}`;
    return { field, reason: `${kind} ${id}`, kind, missing: { type, id } };
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
