/**
 * Runs an operator's queries in one read-only transaction, in which all of them see the same data.
 * Works only on Bun. Messages never contain the URL, which has a password.
 */
import { Database } from "bun:sqlite";
import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { checkColumns, type TableName } from "./columns.ts";
import type { Dialect } from "./literal.ts";
import type { Row, Tables } from "./read-tables.ts";

interface Connection extends AsyncDisposable {
  dialect: Dialect;
  run(sql: string): Promise<{ rows: Row[]; columns: string[] }>;
}

/** Opens the database at `url`. The folder `queries` has a SELECT for each table. */
export async function openDatabase(url: string, queries: string, timeoutMs: number) {
  const connection = await connect(url, timeoutMs);
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
    dialect: connection.dialect,
    async open(table) {
      const bytes = readFileSync(join(queries, `${table}.sql`));
      if (!isUtf8(bytes)) throw new Error(`${table}.sql is not valid UTF-8`);
      // A byte-order mark and the semicolon at the end would be syntax errors in a subquery.
      texts.set(table, bytes.toString().replace(/^\ufeff|[\s;]+$/g, ""));
      const { columns } = await run(table, "WHERE 1 = 0");
      checkColumns(`${table}.sql`, table, columns);
      return columns;
    },
    query: async (...query) => (await run(...query)).rows,
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  } satisfies Tables;
}

async function connect(url: string, timeoutMs: number): Promise<Connection> {
  const [, path] = /^sqlite:(.*)$/is.exec(url) ?? [];
  try {
    return path === undefined ? await connectServer(url, timeoutMs) : openSqlite(path);
  } catch (error) {
    const place = path ?? `the database at ${URL.parse(url)?.host}`;
    throw new Error(`cannot connect to ${place}: ${(error as Error).message}`);
  }
}

function openSqlite(path: string): Connection {
  const db = new Database(path, { readonly: true, safeIntegers: true });
  db.run("BEGIN");
  function all(sql: string) {
    using statement = db.prepare<Row, []>(sql);
    // SQLite compiles only the first statement.
    if (statement.toString() !== sql) throw new Error("must be one statement without parameters");
    return { rows: statement.all(), columns: statement.columnNames };
  }
  return {
    dialect: "sqlite",
    async run(sql) {
      const read = all(sql);
      const isSuspect = (cell: unknown) => typeof cell === "string" && cell.includes("\ufffd");
      if (!read.rows.some((row) => Object.values(row).some(isSuspect))) return read;
      // Bun decodes invalid UTF-8 as U+FFFD, which is a valid character. Validation rejects bytes.
      const casts = read.columns.map((name) => `CAST("${name}" AS BLOB) AS "bytes of ${name}"`);
      const { rows } = all(`SELECT *, ${casts} FROM (${sql})`);
      for (const row of rows) {
        for (const name of read.columns) {
          const raw = row[`bytes of ${name}`];
          delete row[`bytes of ${name}`];
          if (isSuspect(row[name]) && raw instanceof Uint8Array && !isUtf8(raw)) row[name] = raw;
        }
      }
      return { ...read, rows };
    },
    [Symbol.asyncDispose]: async () => db.close(),
  };
}

async function connectServer(url: string, timeoutMs: number): Promise<Connection> {
  const isPostgres = /^postgres/i.test(url);
  // Otherwise, variables such as PGDATABASE would win over the URL.
  const database = decodeURIComponent(URL.parse(url)?.pathname.slice(1) ?? "");
  // If prepared by name, the statements of all pages would stay in PostgreSQL's memory.
  const options = { url, max: 1, connectionTimeout: 0, prepare: !isPostgres, bigint: true };
  const sql = new SQL({ ...options, ...(database !== "" && { database }) });
  const close = () => sql.close({ timeout: 0 });
  try {
    const connection = await within(timeoutMs, sql.reserve());
    /** Sends a template, of which a server takes only one statement, unlike text from `unsafe`. */
    const run = (text: string) => {
      const template = Object.defineProperty([text], "raw", { value: [text] });
      return within(timeoutMs, connection<Row[]>(template as string[] & { raw: string[] }));
    };
    const begin = isPostgres
      ? ["SET TIME ZONE 'UTC'", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"]
      : [
          "SET SESSION time_zone = '+00:00'",
          "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
          "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
        ];
    for (const statement of begin) await run(statement);
    return {
      dialect: isPostgres ? "postgres" : "mysql",
      async run(text) {
        const rows = await run(text);
        return { rows, columns: (rows.columns ?? []).map(({ name }) => name) };
      },
      async [Symbol.asyncDispose]() {
        connection.release();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Rejects if `reply` takes longer. Bun's own timeouts end with the handshake. */
function within<T>(timeoutMs: number, reply: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const silence = `the database sent nothing for ${timeoutMs / 1000} s`;
  const advice = "if a query needs longer, raise --timeout";
  const timer = setTimeout(() => reject(new Error(`${silence}; ${advice}`)), timeoutMs);
  return Promise.race([reply, promise]).finally(() => clearTimeout(timer));
}
