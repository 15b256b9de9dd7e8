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
import { type ReadHooks, Table, type Tables } from "./table.ts";
import type { Selected, TableSource } from "./table-source.ts";
import { UserReader } from "./user-reader.ts";

export class TableReader implements RecordReader {
  readonly ids = OWN_IDS;
  readonly unknownColumns: UnknownColumn[] = [];
  readonly #source: TableSource;
  readonly #files: ReadonlyMap<TableName, string>;
  readonly #hooks: ReadHooks;
  readonly #converter: RowConverter;

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

  get notes(): readonly string[] {
    return this.#source.notes;
  }

  /** Yields all records, and the errors in all other rows. */
  async *read(): AsyncGenerator<readonly Item[]> {
    const tables = await this.#countRows(await this.#openFiles());
    yield* this.#readWithoutId(tables);

    const members = await this.#countMembers(tables.get("users"));
    const known = { role: new Set<unknown>(), achievement: new Set<unknown>() };
    yield* this.#readDefinitions(tables, "role", known.role);
    yield* this.#readDefinitions(tables, "achievement", known.achievement);
    // A user is written with the name of the company, so companies come before users.
    yield* this.#readCompanies(tables.get("companies"), members);
    yield* new UserReader(tables, this.#converter, known).read();

    for (const table of tables.values()) table.finish();
  }

  locate(error: FoundError): Location {
    return this.#converter.locate(error);
  }

  /** Opens all files, so that a wrong header is an error before anything is counted. */
  async #openFiles(): Promise<Map<TableName, Selected>> {
    const opened = new Map<TableName, Selected>();
    for (const [name, path] of this.#files) {
      const selected = await this.#source.open(name, path);
      this.unknownColumns.push(...selected.header.unknown);
      opened.set(name, selected);
    }
    return opened;
  }

  async #countRows(opened: ReadonlyMap<TableName, Selected>): Promise<Tables> {
    const tables = new Map<TableName, Table>();
    for (const [name, selected] of opened) {
      tables.set(name, await Table.open(this.#source, name, selected, this.#hooks));
    }
    return tables;
  }

  /** Yields the errors in rows without an id, which are in no page. */
  async *#readWithoutId(tables: Tables): AsyncGenerator<Item[]> {
    for (const [name, table] of tables) {
      const rows = await table.listWithoutId();
      const error = mustBeId(keyOf(name), undefined);
      yield rows.map((row) => this.#converter.toProblem(name, row, error));
    }
  }

  /** Counts how many users each company has. */
  async #countMembers(users: Table | undefined): Promise<Map<unknown, number>> {
    const members = new Map<unknown, number>();
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
    tables: Tables,
    type: "role" | "achievement",
    known: Set<unknown>,
  ): AsyncGenerator<Item[]> {
    for await (const rows of tables.get(tableOf(type))?.pages() ?? []) {
      const items = this.#converter.toRecords(type, rows);
      for (const record of recordsOf(items)) known.add(record.id);
      yield items;
    }
  }

  async *#readCompanies(
    companies: Table | undefined,
    members: ReadonlyMap<unknown, number>,
  ): AsyncGenerator<Item[]> {
    for await (const rows of companies?.pages() ?? []) {
      const items = this.#converter.toRecords("company", rows);
      for (const record of recordsOf(items)) record.member_count ??= members.get(record.id) ?? 0;
      yield items;
    }
  }
}
