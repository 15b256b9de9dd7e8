/**
 * Runs an operator's queries in one read-only transaction, in which all of them see the same data.
 * Needs Bun. Messages never contain the URL, which has a password.
 */
import { once } from "node:events";
import { createConnection } from "node:net";
import { codeOf, networkReasonOf, reasonOf } from "../files/errors.ts";
import type { Row, Source } from "./queries.ts";

const URLS = "a postgres://, mysql://, mariadb:// or sqlite: URL";

/** The problem follows the name of the source, which may have a password, so it is not repeated. */
export function findProblem(source: string, queries: string | undefined): string | undefined {
  const isDatabase = /^(?:postgres(?:ql)?|mysql|mariadb|sqlite):/i.test(source);
  if (queries === undefined) {
    if (isDatabase) return "is a database; name the folder of its SELECTs with --queries";
    const isUrl = /^[a-z][a-z\d+.-]*:\/\//i.test(source);
    return isUrl ? `must be a file, a folder, - or ${URLS}` : undefined;
  }
  const { host, pathname, search, hash } = URL.parse(source) ?? {};
  // A password with / ? or # would end the host.
  const isServer = host && !`${pathname}${search}${hash}`.includes("@");
  if (isServer && /^m/i.test(source) && /^\/?$/.test(pathname ?? "")) {
    return "must name the database, as in mysql://reader@127.0.0.1/platform";
  }
  if (isDatabase && (isServer || /^sqlite:./i.test(source))) return undefined;
  return `must be ${URLS}; write special characters in a password as %XX, such as %23 for #`;
}

export async function openDatabase(url: string, timeoutMs: number): Promise<Source> {
  if (!process.versions.bun) {
    throw new Error("databases need the executable or Bun; on Node.js, import NDJSON or CSV");
  }
  const [, path] = /^sqlite:(.*)$/is.exec(url) ?? [];
  try {
    return path === undefined ? await connectServer(url, timeoutMs) : await openSqlite(path);
  } catch (error) {
    if (path !== undefined) throw new Error(`cannot connect to ${path}: ${reasonOf(error)}`);
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
  const defaultPort = /^postgres/i.test(url) ? 5432 : 3306;
  const socket = createConnection({ host, port: Number(port) || defaultPort });
  try {
    await within(timeoutMs, once(socket, "connect"));
    return reason;
  } catch (error) {
    return networkReasonOf(error, timeoutMs);
  } finally {
    socket.destroy();
  }
}

async function openSqlite(path: string): Promise<Source> {
  const { Database } = await import("bun:sqlite");
  const db = new Database(path, { readonly: true, safeIntegers: true });
  db.run("PRAGMA cache_size = -32768");
  db.run("BEGIN");
  return {
    ending: "sql",
    dialect: "sqlite",
    async run(sql) {
      using statement = db.prepare<Row, []>(sql);
      // SQLite compiles only the first statement.
      if (statement.toString() !== sql) throw new Error("must be one statement without parameters");
      return { rows: statement.all(), columns: statement.columnNames };
    },
    [Symbol.asyncDispose]: async () => db.close(),
  };
}

async function connectServer(url: string, timeoutMs: number): Promise<Source> {
  const { SQL } = await import("bun");
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
      ending: "sql",
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
