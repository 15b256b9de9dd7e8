/**
 * Reads tables from a database with an operator's queries, in one read-only transaction, and says why
 * if it cannot be reached. Messages never contain the URL, which has a password. Needs Bun.
 */
import { isUtf8 } from "node:buffer";
import { lookup } from "node:dns/promises";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { dirname } from "node:path";
import { openFile } from "../files/bytes.ts";
import { codeOf, reasonOf } from "../files/errors.ts";
import { readFileBytes } from "../files/input.ts";
import { BusyError, waitForLock } from "../files/lock.ts";
import { within } from "../files/waiting.ts";
import type { IdFormat } from "./columns.ts";
import { type Dialect, dialects } from "./dialects.ts";
import { findColumns } from "./header.ts";
import { IncomparableError, type Row, type TableSource } from "./table.ts";

export const DATABASE_TIMEOUT_MS = 120_000;

interface Connection extends AsyncDisposable {
  run(sql: string): Promise<QueryReply>;
}

interface QueryReply {
  rows: Row[];
  /** The names of the columns, also if there are no rows. */
  columns: string[];
}

/** Connects to a database, to run the queries in the files. */
export async function openDatabase(address: DatabaseAddress, ids: IdFormat): Promise<TableSource> {
  if (!process.versions.bun) {
    throw new Error("databases need the executable or Bun; on Node.js, import NDJSON or CSV");
  }
  const { dialect } = address;
  const connection = await connect(address);
  return {
    async open(table, path) {
      const file = `${table}.sql`;
      const run = (sql: string) =>
        connection.run(sql).catch((error) => {
          const Kind = INCOMPARABLE.includes(error.errno) ? IncomparableError : Error;
          throw new Kind(`${file}: ${reasonOf(error)}`);
        });
      const bytes = Buffer.concat(await Array.fromAsync(readFileBytes(path)));
      if (!isUtf8(bytes)) throw new Error(`${file} is not valid UTF-8`);

      const query = trimQuery(dialect, new TextDecoder().decode(bytes));
      const from = `(${query})`;
      const { columns } = await run(`SELECT * FROM ${from} AS q WHERE 1 = 0`);
      const header = findColumns(file, table, columns);
      // With the names of columns as they are known here.
      const { quote } = dialect;
      const selected = Array.from(header.columns, ([column, at]) => {
        const name = (columns[at] ?? "").replaceAll(quote, quote + quote);
        return `${quote}${name}${quote} AS ${column}`;
      });
      return {
        ...header,
        file,
        format: { ids, dialect, isSpreadsheet: false },
        from: `(SELECT ${selected.join(", ")} FROM ${from} AS written)`,
        run: async (sql) => (await run(sql)).rows,
      };
    },
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}

/** PostgreSQL's undefined_function, and the ER_CANT_AGGREGATE_2COLLATIONS of MySQL and MariaDB. */
const INCOMPARABLE: unknown[] = ["42883", 1267];

/** Removes the semicolons and comments after a query, which a subquery cannot have. */
function trimQuery({ comment, quoted }: Dialect, text: string): string {
  const parts = new RegExp(`(?<blank>${comment.source}|[\\s;])|${quoted.source}|.`, "gis");
  let end = 0;
  for (const { 0: part, groups, index } of text.matchAll(parts)) {
    if (groups?.blank === undefined) end = index + part.length;
  }
  return text.slice(0, end);
}

/** Where a database is, and how long a reply may take. */
interface DatabaseAddress {
  url: string;
  dialect: Dialect;
  timeoutMs: number;
}

async function connect(address: DatabaseAddress): Promise<Connection> {
  const { url, dialect, timeoutMs } = address;
  const path = dialect === dialects.sqlite ? url.replace(dialect.scheme, "") : undefined;
  try {
    return await (path === undefined ? connectToServer(address) : openSqlite(path, timeoutMs));
  } catch (error) {
    const { host, hostname = "" } = URL.parse(url) ?? {};
    const place = path ?? `the database at ${host}`;
    throw new Error(`cannot connect to ${place}: ${await explainFailure(hostname, error)}`);
  }
}

/** Bun gives the same reason for an unknown host and for one that refuses. */
async function explainFailure(hostname: string, error: unknown): Promise<string> {
  const reason = reasonOf(error);
  const code = codeOf(error);
  if (/CERT|SIGNATURE/.test(code)) return `its certificate is not trusted: ${reason}`;
  // The reason for a Unix socket has its path.
  if (!code.endsWith("CONNECTION_REFUSED") || reason.includes("/")) return reason;
  return lookup(hostname.replace(/^\[|\]$/g, "")).then(
    () => "connection refused, or no route to the host",
    () => "cannot resolve host name",
  );
}

/** Waits for another program that writes to the database. */
async function openSqlite(path: string, timeoutMs: number): Promise<Connection> {
  const { Database } = await import("bun:sqlite");
  // The last connection to a log removes it, but not if it cannot write.
  const mode = (await checkLog(path)) ? { readwrite: true, create: false } : { readonly: true };
  const client = new Database(path, { ...mode, safeIntegers: true });
  try {
    client.run("PRAGMA query_only = ON; PRAGMA busy_timeout = 0");
    for (const statement of dialects.sqlite.begin) client.run(statement);
    // Reads a page, so that the transaction begins.
    await waitForLock(path, () => client.run("SELECT 1 FROM sqlite_schema"), { waitMs: timeoutMs });
    client.run("PRAGMA cache_size = -32768");
  } catch (error) {
    client.close();
    if (!(error instanceof BusyError)) throw error;
    throw new Error(
      `another program is still writing to it after ${timeoutMs / 1000} s; raise --timeout, or wait for that program`,
    );
  }
  return {
    async run(sql) {
      using statement = client.prepare<Row, []>(sql);
      // SQLite compiles only the first statement.
      if (statement.toString() !== sql) throw new Error("must be one statement without parameters");
      return { rows: statement.all(), columns: statement.columnNames };
    },
    [Symbol.asyncDispose]: async () => client.close(),
  };
}

/** The bytes of the header that say how to write and how to read: 2 is with a write-ahead log. */
const FORMATS = [18, 19];

/**
 * Whether a database is in WAL mode. Throws if a reader could not remove the files that it then has
 * to create, or if its owner could not use them.
 */
async function checkLog(path: string): Promise<boolean> {
  await using file = await openFile(path);
  const { buffer: header } = await file.read(Buffer.alloc(20), 0, 20, 0);
  if (!FORMATS.some((at) => header[at] === 2)) return false;

  const user = process.getuid?.();
  if (user !== undefined && user !== (await file.stat()).uid) {
    const copy = `sqlite3 ${path} ".backup copy.db" && sqlite3 copy.db "PRAGMA journal_mode = DELETE"`;
    throw new Error(
      `it is in WAL mode, and its owner could not write to it after another user has read it; run the import as its owner, or import a copy that its owner makes: ${copy}`,
    );
  }
  try {
    for (const place of [dirname(path), path]) await access(place, constants.W_OK);
  } catch {
    throw new Error(
      "it is in WAL mode where you may not write; copy it, with its -wal file if there is one, to a folder where you may",
    );
  }
  return true;
}

/** The facts that Bun adds to the rows of a reply. */
type ServerReply = Row[] & { columns?: { name: string }[] };

/** Connects to PostgreSQL, MySQL or MariaDB. */
async function connectToServer({ url, dialect, timeoutMs }: DatabaseAddress): Promise<Connection> {
  const { SQL } = await import("bun");
  const client = new SQL({
    url,
    // Otherwise, variables such as PGDATABASE would win over the URL.
    database: decodeURIComponent(URL.parse(url)?.pathname.slice(1) ?? "") || undefined,
    max: 1,
    connectionTimeout: 0,
    // PostgreSQL would keep the queries of all pages in memory.
    prepare: dialect !== dialects.postgres,
    bigint: true,
  });
  // Bun's own timeouts end with the handshake.
  const silence = `timed out: the database sent nothing for ${timeoutMs / 1000} s`;
  const slow = () => new Error(`${silence}; run ANALYZE there, or raise --timeout`);
  try {
    const connection = await within(timeoutMs, client.reserve(), () => new Error(silence));
    /** Sends a template, of which a server takes only one statement, unlike text from `unsafe`. */
    const run = async (sql: string) => {
      const template = Object.defineProperty([sql], "raw", { value: [sql] });
      const reply = connection<ServerReply>(template as string[] & { raw: string[] });
      const rows = await within(timeoutMs, reply, slow);
      return { rows, columns: (rows.columns ?? []).map(({ name }) => name) };
    };
    for (const statement of dialect.begin) await run(statement);
    const close = async () => {
      connection.release();
      await client.close({ timeout: 0 });
    };
    return { run, [Symbol.asyncDispose]: close };
  } catch (error) {
    await client.close({ timeout: 0 });
    throw error;
  }
}
