/**
 * Reads tables from a database with an operator's queries. Messages never contain the URL, which has
 * a password.
 */
import { isUtf8 } from "node:buffer";
import { once } from "node:events";
import { createConnection } from "node:net";
import { codeOf, networkReasonOf, reasonOf } from "../files/errors.ts";
import { readFileBytes } from "../files/input.ts";
import type { CellFormat } from "./cells.ts";
import { findColumns, type TableName } from "./columns.ts";
import {
  type Connection,
  ServerConnection,
  SqliteConnection,
  within,
} from "./database-connection.ts";
import { type Dialect, quoteName, serverDialect, trimQuery } from "./dialects.ts";
import { namingFile, type Row, type Selected, type TableSource } from "./table-source.ts";

export async function openDatabase(url: string, timeoutMs: number): Promise<TableSource> {
  if (!process.versions.bun) {
    throw new Error("databases need the executable or Bun; on Node.js, import NDJSON or CSV");
  }
  const [, path] = /^sqlite:(.*)$/is.exec(url) ?? [];
  const connection = path === undefined ? connectTo(url, timeoutMs) : openFile(path);
  return new DatabaseSource(await connection);
}

async function openFile(path: string): Promise<Connection> {
  try {
    return await SqliteConnection.open(path);
  } catch (error) {
    throw new Error(`cannot connect to ${path}: ${reasonOf(error)}`);
  }
}

async function connectTo(url: string, timeoutMs: number): Promise<Connection> {
  try {
    return await ServerConnection.open(url, timeoutMs);
  } catch (error) {
    const reason = await explainFailure(url, error, timeoutMs);
    throw new Error(`cannot connect to the database at ${URL.parse(url)?.host}: ${reason}`);
  }
}

/** Bun gives the same reason for an unknown host and a closed port, so this connects once more. */
async function explainFailure(url: string, error: unknown, timeoutMs: number): Promise<string> {
  const reason = reasonOf(error);
  if (/CERT|SIGNATURE/.test(codeOf(error))) return `its certificate is not trusted: ${reason}`;
  // The reason for a Unix socket has its path.
  if (reason !== "Failed to connect") return reason;

  const { hostname = "", port = "" } = URL.parse(url) ?? {};
  const host = hostname.replace(/^\[|\]$/g, "");
  const socket = createConnection({ host, port: Number(port || serverDialect(url).port) });
  try {
    await within(timeoutMs, once(socket, "connect"));
    return reason;
  } catch (error) {
    return networkReasonOf(error, timeoutMs);
  } finally {
    socket.destroy();
  }
}

/** The tables that an operator's queries select from a database. */
class DatabaseSource implements TableSource {
  readonly dialect: Dialect;
  readonly cells: CellFormat;
  readonly hasLines = false;
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
