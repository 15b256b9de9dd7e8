/**
 * Runs an operator's queries in one read-only transaction, in which all of them see the same data.
 * Works only on Bun. Messages never contain the URL, which has a password.
 */
import { Database } from "bun:sqlite";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { checkColumns, type TableName } from "./columns.ts";
import type { Row, Tables } from "./read-tables.ts";

interface Connection extends AsyncDisposable {
  run(sql: string): Promise<{ rows: Row[]; columns: string[] }>;
}

/** Opens the database at `url`. The folder `queries` has a SELECT for each table. */
export async function openDatabase(url: string, queries: string): Promise<Tables> {
  const connection = await connect(url);
  const texts = new Map<TableName, string>();
  const run = async (table: TableName, rest: string, selected = "*") => {
    try {
      // The line break ends a comment on the last line.
      return await connection.run(`SELECT ${selected} FROM (${texts.get(table)}\n) AS q ${rest}`);
    } catch (error) {
      throw new Error(`${table}.sql: ${(error as Error).message}`);
    }
  };
  return {
    ending: "sql",
    async open(table) {
      const text = readFileSync(join(queries, `${table}.sql`), "utf8");
      // A byte-order mark and the semicolon at the end would be syntax errors in a subquery.
      texts.set(table, text.replace(/^\ufeff|[\s;]+$/g, ""));
      const { columns } = await run(table, "WHERE 1 = 0");
      checkColumns(`${table}.sql`, table, columns);
      return columns;
    },
    query: async (...query) => (await run(...query)).rows,
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}

async function connect(url: string): Promise<Connection> {
  const [, path] = /^sqlite:(.*)$/is.exec(url) ?? [];
  try {
    return path === undefined ? await connectServer(url) : openSqlite(path);
  } catch (error) {
    const place = path ?? `the database at ${URL.parse(url)?.host}`;
    throw new Error(`cannot connect to ${place}: ${(error as Error).message}`);
  }
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
  // Otherwise, variables such as PGDATABASE would win over the URL.
  const database = decodeURIComponent(URL.parse(url)?.pathname.slice(1) ?? "");
  const sql = new SQL({ url, max: 1, ...(database !== "" && { database }) });
  const connection = await sql.reserve();
  const begin = /^postgres/i.test(url)
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
