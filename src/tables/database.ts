/**
 * Runs an operator's queries in one read-only transaction, in which all of them see the same data.
 * Works only on Bun. Messages never contain the URL, which has a password.
 */
import { Database } from "bun:sqlite";
import { isUtf8 } from "node:buffer";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createConnection } from "node:net";
import { SQL } from "bun";
import { codeOf, networkReasonOf, reasonOf } from "../files/errors.ts";
import { readHeader, type TableName } from "./columns.ts";
import type { Dialect } from "./literal.ts";
import type { Row, Tables } from "./read-tables.ts";

interface Connection extends AsyncDisposable {
  dialect: Dialect;
  run(sql: string): Promise<{ rows: Row[]; columns: string[] }>;
}

/** Opens the database at `url`, in which the file of each table is a SELECT. */
export async function openDatabase(url: string, timeoutMs: number) {
  const connection = await connect(url, timeoutMs);
  const isMysql = /^(?:mysql|mariadb):/i.test(url);
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
    async open(table, path) {
      const file = `${table}.sql`;
      const bytes = readFileSync(path);
      if (!isUtf8(bytes)) throw new Error(`${file} is not valid UTF-8`);
      texts.set(table, trimQuery(bytes.toString().replace(/^\ufeff/, ""), isMysql));
      const { columns } = await run(table, "WHERE 1 = 0");
      const header = readHeader(file, table, columns);
      if (columns.some((name, at) => header.places.get(name) !== at)) {
        const quote = isMysql ? "`" : '"';
        const quoted = columns.map((name) => quote + name.replaceAll(quote, quote + quote) + quote);
        const known = Array.from(header.places, ([name, at]) => `${quoted[at]} AS ${name}`);
        texts.set(table, `SELECT ${known} FROM (${texts.get(table)}\n) AS written`);
      }
      return header;
    },
    query: async (...query) => (await run(...query)).rows,
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  } satisfies Tables;
}

/** Text in quotes, or white space, a semicolon or a comment, or any other character. */
const TOKEN = /'[^']*'|"[^"]*"|`[^`]*`|\$(\w*)\$.*?\$\1\$|(?<rest>\s|;|--[^\n]*|\/\*.*?\*\/)|./gs;
const MYSQL_TOKEN =
  /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|(?<rest>\s|;|(?:#|--(?=\s))[^\n]*|\/\*.*?\*\/)|./gs;

/** Removes semicolons and comments at the end, because a semicolon is an error in a subquery. */
function trimQuery(text: string, isMysql: boolean): string {
  const tokens = [...text.matchAll(isMysql ? MYSQL_TOKEN : TOKEN)];
  const last = tokens.findLast(({ groups }) => groups?.rest === undefined);
  return last ? text.slice(0, last.index + last[0].length) : "";
}

async function connect(url: string, timeoutMs: number): Promise<Connection> {
  const [, path] = /^sqlite:(.*)$/is.exec(url) ?? [];
  try {
    return path === undefined ? await connectServer(url, timeoutMs) : openSqlite(path);
  } catch (error) {
    const place = path ?? `the database at ${URL.parse(url)?.host}`;
    const reason =
      path === undefined ? await explainFailure(url, error, timeoutMs) : reasonOf(error);
    throw new Error(`cannot connect to ${place}: ${reason}`);
  }
}

/** Bun gives the same reason for an unknown host and a closed port, so this connects once more. */
async function explainFailure(url: string, error: unknown, timeoutMs: number): Promise<string> {
  const reason = reasonOf(error);
  if (/CERT|SIGNATURE/.test(codeOf(error))) return `its certificate is not trusted: ${reason}`;
  const { hostname = "", port = "" } = URL.parse(url) ?? {};
  // The reason for a Unix socket has its path.
  if (reason !== "Failed to connect") return reason;
  const defaultPort = /^postgres/i.test(url) ? 5432 : 3306;
  const host = hostname.replace(/^\[|\]$/g, "");
  const socket = createConnection({ host, port: Number(port) || defaultPort });
  return within(timeoutMs, once(socket, "connect"))
    .then(
      () => reason,
      (error) => networkReasonOf(error, timeoutMs),
    )
    .finally(() => socket.destroy());
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
      const reply = connection<Row[]>(template as string[] & { raw: string[] });
      return within(timeoutMs, reply, "; run ANALYZE there, or raise --timeout");
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
function within<T>(timeoutMs: number, reply: Promise<T>, advice = ""): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const silence = `timed out: the database sent nothing for ${timeoutMs / 1000} s`;
  const timer = setTimeout(() => reject(new Error(silence + advice)), timeoutMs);
  return Promise.race([reply, promise]).finally(() => clearTimeout(timer));
}
