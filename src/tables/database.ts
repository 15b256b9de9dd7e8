/**
 * Runs an operator's queries in one read-only transaction, in which all of them see the same data.
 * Works only on Bun. Messages never have the URL, which contains a password.
 */
import { Database } from "bun:sqlite";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { readError } from "../files/errors.ts";
import { checkColumns, findTables, type TableName } from "./columns.ts";
import type { Row, Tables } from "./read-tables.ts";

interface Connection extends AsyncDisposable {
  run(sql: string): Promise<{ rows: Row[]; columns: string[] }>;
}

/** Opens the database at `url`. The folder `queries` has a SELECT for each table. */
export async function openDatabase(url: string, queries: string): Promise<Tables> {
  const names = findTables(queries, "sql");
  const tokens = /^(?:mysql|mariadb):/i.test(url) ? TOKENS.mysql : TOKENS.others;
  const texts = new Map<TableName, string>();
  for (const table of names) {
    const text = readQuery(join(queries, `${table}.sql`));
    texts.set(table, oneStatement(`${table}.sql`, text, tokens));
  }
  const connection = await connect(url);
  const run = async (table: TableName, rest: string, selected = "*") => {
    // The query begins on the first line, so that line numbers in errors are those of the file.
    const sql = `SELECT ${selected} FROM (${texts.get(table)}\n) AS q ${rest}`;
    try {
      return await connection.run(sql);
    } catch (error) {
      throw queryError(`${table}.sql`, sql, error);
    }
  };
  try {
    const columns = new Map<TableName, string[]>();
    for (const table of names) {
      columns.set(table, (await run(table, "WHERE 1 = 0")).columns);
      checkColumns(`${table}.sql`, table, columns.get(table) ?? []);
    }
    return {
      columns,
      ending: "sql",
      query: async (...query) => (await run(...query)).rows,
      [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
    };
  } catch (error) {
    await connection[Symbol.asyncDispose]();
    throw error;
  }
}

function readQuery(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw readError(path, error);
  }
}

/** Matches a semicolon, and each string, name and comment, which may contain semicolons. */
const TOKENS = {
  mysql: /'(?:[^'\\]|\\[\s\S])*'|"(?:[^"\\]|\\[\s\S])*"|`[^`]*`|--(?=\s).*|#.*|\/\*[\s\S]*?\*\/|;/g,
  others: /\be'(?:[^'\\]|\\[\s\S])*'|'[^']*'|"[^"]*"|(\$\w*\$)[\s\S]*?\1|--.*|\/\*[\s\S]*?\*\/|;/gi,
};

/** Returns the query in a file without the semicolon at its end. */
function oneStatement(file: string, text: string, tokens: RegExp): string {
  const [statement = "", ...rest] = text
    .replace(/^\ufeff/, "")
    .replace(tokens, (token) => (token === ";" ? "\0" : token))
    .split("\0");
  const isEmpty = (part: string) =>
    part.replace(tokens, (token) => (/^(?:--|#|\/\*)/.test(token) ? "" : token)).trim() === "";
  if (isEmpty(statement)) throw new Error(`${file} has no query`);
  if (rest.every(isEmpty)) return statement;
  throw new Error(`${file} must have a single SELECT, but has more than one statement`);
}

async function connect(url: string): Promise<Connection> {
  const [, path] = /^sqlite:(?:\/\/(?=\/))?(.*)$/is.exec(url) ?? [];
  try {
    return path === undefined ? await connectServer(url) : openSqlite(path);
  } catch (error) {
    const { host = "" } = URL.parse(url) ?? {};
    const place = path ?? (host === "" ? "the database" : `the database at ${host}`);
    throw new Error(`cannot connect to ${place}: ${messageOf(error)}`);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function openSqlite(path: string): Connection {
  const db = new Database(path, { readonly: true });
  db.run("BEGIN");
  return {
    async run(sql) {
      using statement = db.prepare<Row, []>(sql);
      return { rows: statement.all(), columns: statement.columnNames };
    },
    [Symbol.asyncDispose]: async () => db.close(),
  };
}

async function connectServer(url: string): Promise<Connection> {
  const isPostgres = /^postgres/i.test(url);
  // Otherwise, variables such as PGDATABASE would win over the URL.
  const database = decodeURIComponent(URL.parse(url)?.pathname.slice(1) ?? "");
  const sql = new SQL({ url, max: 1, ...(database !== "" && { database }) });
  const connection = await sql.reserve();
  const begin = isPostgres
    ? ["SET TIME ZONE 'UTC'", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"]
    : [
        "SET SESSION time_zone = '+00:00'",
        "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
        "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
      ];
  for (const statement of begin) await connection.unsafe(statement);
  return {
    async run(text) {
      const rows = await connection.unsafe<Row[]>(text);
      return { rows, columns: (rows.columns ?? []).map(({ name }) => name) };
    },
    async [Symbol.asyncDispose]() {
      connection.release();
      await sql.close({ timeout: 0 });
    },
  };
}

/** Returns an error with the database's message and the line of the file that it is about. */
function queryError(file: string, sql: string, error: unknown): Error {
  const message = messageOf(error);
  const { position, byteOffset = -1 } = error as { position?: string; byteOffset?: number };
  const offset = position === undefined ? byteOffset : Number(position) - 1;
  const [, atLine] = /\bat line (\d+)$/.exec(message) ?? [];
  // Instead of a position, other messages name what is unknown.
  const [, quoted, bare] = /'(?:[^']*\.)?([^'.]+)'|no such \w+: (?:.*\.)?(.+)/.exec(message) ?? [];
  const name = quoted ?? bare;
  const at = offset >= 0 || name === undefined ? offset : sql.indexOf(name);
  const isInFile = at >= 0 && at < sql.lastIndexOf("\n) AS q");
  const line = atLine ?? (isInFile ? sql.slice(0, at).split("\n").length : undefined);
  return new Error(`${file}${line === undefined ? "" : `, line ${line}`}: ${message}`);
}
