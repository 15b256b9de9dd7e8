/**
 * Reads the records in the tables of a database or of CSV files, which are validated later, like the
 * lines of a dataset. Reports rows without a record.
 */
import { statSync } from "node:fs";
import { DATABASE_TIMEOUT_MS } from "../domain/limits.ts";
import {
  type FoundError,
  type Item,
  type Location,
  OWN_IDS,
  type RecordReader,
  type UnknownColumn,
} from "../domain/record-reader.ts";
import { mustBeId } from "../domain/validation-errors.ts";
import { type IdFormat, integerIds, keyIds } from "./cells.ts";
import { findTables, keyOf, type TableName } from "./columns.ts";
import { CsvSource } from "./csv-source.ts";
import { openDatabase } from "./database-source.ts";
import type { DateOrder } from "./date-order.ts";
import { RowConverter, recordsOf, tableOf } from "./row-converter.ts";
import { type ReadHooks, Table } from "./table.ts";
import type { Row, TableSource } from "./table-source.ts";
import { UserReader } from "./user-reader.ts";

export interface TableOptions extends ReadHooks {
  /** The file that maps ids of any kind to integers. Without it, ids must be integers. */
  idMap?: string | undefined;
  /** The folder with a SELECT for each table, if the source is a database. */
  queries?: string | undefined;
  /** The order of day and month in CSV files, where a column does not show it. */
  dates?: DateOrder | undefined;
  /** How long to wait for each page of rows from a database server. */
  timeoutMs?: number | undefined;
}

class TableReader implements RecordReader {
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

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Opens a folder of CSV files. */
export function openFolder(folder: string, { dates, idMap, onRead }: TableOptions): RecordReader {
  const files = findTables(folder, "csv");
  const ids = idFormatFor(idMap);
  return new TableReader(new CsvSource(ids, dates), files, ids, { onRead });
}

/** Opens the database at a URL, with the SELECTs in the folder `queries`. */
export async function openQueries(
  url: string,
  { queries = "", timeoutMs = DATABASE_TIMEOUT_MS, idMap, onRead, onSlow }: TableOptions,
): Promise<RecordReader> {
  if (!isFolder(queries)) throw new Error(`${queries} is not a folder`);
  const files = findTables(queries, "sql");
  const source = await openDatabase(url, timeoutMs);
  return new TableReader(source, files, idFormatFor(idMap), { onRead, onSlow });
}

function idFormatFor(idMap: string | undefined): IdFormat {
  return idMap === undefined ? integerIds : keyIds;
}
