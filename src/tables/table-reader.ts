/**
 * Reads the records in the tables of a database or of CSV files, which are validated later, like the
 * lines of a dataset. Reports rows without a record.
 */
import {
  type FoundError,
  type Item,
  type Location,
  OWN_IDS,
  type RecordReader,
  recordsOf,
  type UnknownColumn,
} from "../domain/record-reader.ts";
import { mustBeId } from "../domain/validation-errors.ts";
import type { IdFormat } from "./cells.ts";
import { keyOf, type TableName, tableOf } from "./columns.ts";
import { RowConverter } from "./row-converter.ts";
import { type ReadHooks, Table } from "./table.ts";
import type { Row, TableSource } from "./table-source.ts";
import { UserReader } from "./user-reader.ts";

export class TableReader implements RecordReader {
  readonly ids = OWN_IDS;
  readonly unknownColumns: UnknownColumn[] = [];
  readonly #source: TableSource;
  readonly #files: ReadonlyMap<TableName, string>;
  readonly #hooks: ReadHooks;
  readonly #converter: RowConverter;
  readonly #tables = new Map<TableName, Table>();

  constructor(
    source: TableSource,
    files: ReadonlyMap<TableName, string>,
    ids: IdFormat,
    hooks: ReadHooks,
  ) {
    this.#source = source;
    this.#files = files;
    this.#hooks = hooks;
    this.#converter = new RowConverter(source, ids);
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#source[Symbol.asyncDispose]();
  }

  /** Yields all records, and the errors in all other rows. */
  async *read(): AsyncGenerator<readonly Item[]> {
    await this.#openTables();
    yield* this.#readWithoutId();

    const members = await this.#countMembers();
    const known = { role: new Set<unknown>(), achievement: new Set<unknown>() };
    yield* this.#readDefinitions("role", known.role);
    yield* this.#readDefinitions("achievement", known.achievement);
    // A user is written with the name of the company, so companies come before users.
    yield* this.#readCompanies(members);
    yield* new UserReader(this.#tables, this.#converter, known).read();

    for (const table of this.#tables.values()) table.finish();
  }

  locate(error: FoundError): Location {
    return this.#converter.locate(error);
  }

  async #openTables(): Promise<void> {
    for (const [name, path] of this.#files) {
      const table = await Table.open(this.#source, name, path, this.#hooks);
      this.#tables.set(name, table);
      this.unknownColumns.push(...table.header.unknown);
    }
  }

  /** Yields the errors in rows without an id, before the others are read in pages. */
  async *#readWithoutId(): AsyncGenerator<Item[]> {
    for (const [name, table] of this.#tables) {
      await table.count();
      const rows = await table.listWithoutId();
      const error = mustBeId(keyOf(name), undefined);
      yield rows.map((row) => this.#converter.toProblem(name, row, error));
    }
  }

  /** Counts how many users each company has. */
  async #countMembers(): Promise<Map<unknown, number>> {
    const members = new Map<unknown, number>();
    const users = this.#tables.get("users");
    if (!users?.header.columns.has("company_id")) return members;

    const columns = "q.company_id AS company_id, COUNT(*) AS members";
    for (const row of await users.query("GROUP BY q.company_id", columns)) {
      const id = this.#converter.toCells(row).company_id;
      members.set(id, (members.get(id) ?? 0) + Number(row.members));
    }
    return members;
  }

  /** Adds the ids to `known`. */
  async *#readDefinitions(
    type: "role" | "achievement",
    known: Set<unknown>,
  ): AsyncGenerator<Item[]> {
    for await (const rows of this.#pages(tableOf(type))) {
      const items = this.#converter.toRecords(type, rows);
      for (const record of recordsOf(items)) known.add(record.id);
      yield items;
    }
  }

  async *#readCompanies(members: ReadonlyMap<unknown, number>): AsyncGenerator<Item[]> {
    for await (const rows of this.#pages("companies")) {
      const items = this.#converter.toRecords("company", rows);
      for (const record of recordsOf(items)) record.member_count ??= members.get(record.id) ?? 0;
      yield items;
    }
  }

  #pages(table: TableName): AsyncIterable<Row[]> | Row[][] {
    return this.#tables.get(table)?.pages() ?? [];
  }
}
