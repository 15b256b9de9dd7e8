/** Reads tables from a database with an operator's queries. */
import { isUtf8 } from "node:buffer";
import { readFileBytes } from "../files/input.ts";
import type { CellFormat } from "./cells.ts";
import { findColumns, type TableName } from "./columns.ts";
import type { Connection } from "./database-connection.ts";
import {
  type Dialect,
  namingFile,
  type Row,
  type Selected,
  type TableSource,
} from "./table-source.ts";

/** The tables that an operator's queries select from a database. */
export class DatabaseSource implements TableSource {
  readonly dialect: Dialect;
  readonly cells: CellFormat;
  readonly hasLines = false;
  readonly notes = [];
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.dialect = connection.dialect;
    this.cells = { hasBits: connection.dialect.hasBits };
  }

  async open(table: TableName, path: string): Promise<Selected> {
    const file = this.fileOf(table);
    const bytes = Buffer.concat(await Array.fromAsync(readFileBytes(path)));
    if (!isUtf8(bytes)) throw new Error(`${file} is not valid UTF-8`);

    const query = trimQuery(this.dialect, new TextDecoder().decode(bytes));
    const from = `(${query})`;

    const reply = this.#connection.run(`SELECT * FROM ${from} AS q WHERE 1 = 0`);
    const { columns } = await namingFile(file, reply);
    const header = findColumns(file, table, columns);
    if (columns.every((column, at) => header.columns.get(column) === at)) return { header, from };

    // With the names of columns as they are known here.
    const known = Array.from(header.columns, ([column, at]) => {
      return `${quoteName(this.dialect, columns[at] ?? "")} AS ${column}`;
    });
    return { header, from: `(SELECT ${known} FROM ${from} AS written)` };
  }

  async run(sql: string): Promise<Row[]> {
    return (await this.#connection.run(sql)).rows;
  }

  fileOf(table: TableName): string {
    return `${table}.sql`;
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#connection[Symbol.asyncDispose]();
  }
}

/** Removes what follows the query, because a semicolon is an error in a subquery. */
function trimQuery({ parts }: Dialect, text: string): string {
  let end = 0;
  for (const { 0: part, 1: omitted, index } of text.matchAll(parts)) {
    if (omitted === undefined) end = index + part.length;
  }
  return text.slice(0, end);
}

function quoteName({ quote }: Dialect, name: string): string {
  return quote + name.replaceAll(quote, quote + quote) + quote;
}
