/** Connections to databases, each in one read-only transaction. Needs Bun. */
import type { Database } from "bun:sqlite";
import type { ReservedSQL, SQL } from "bun";
import { type Dialect, dialects, serverDialect } from "./dialects.ts";
import type { Row } from "./table-source.ts";

export interface Connection extends AsyncDisposable {
  readonly dialect: Dialect;
  run(sql: string): Promise<QueryReply>;
}

interface QueryReply {
  rows: Row[];
  /** The names of the columns, also if there are no rows. */
  columns: string[];
}

export class SqliteConnection implements Connection {
  readonly dialect = dialects.sqlite;
  readonly #db: Database;

  private constructor(db: Database) {
    this.#db = db;
  }

  static async open(path: string): Promise<SqliteConnection> {
    const { Database } = await import("bun:sqlite");
    const db = new Database(path, { readonly: true, safeIntegers: true });
    db.run("PRAGMA cache_size = -32768");
    for (const statement of dialects.sqlite.begin) db.run(statement);
    return new SqliteConnection(db);
  }

  async run(sql: string): Promise<QueryReply> {
    using statement = this.#db.prepare<Row, []>(sql);
    // SQLite compiles only the first statement.
    if (statement.toString() !== sql) throw new Error("must be one statement without parameters");
    return { rows: statement.all(), columns: statement.columnNames };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#db.close();
  }
}

/** The facts that Bun adds to the rows of a reply. */
type ServerReply = Row[] & { columns?: { name: string }[] };

/** A connection to PostgreSQL, MySQL or MariaDB. */
export class ServerConnection implements Connection {
  readonly dialect: Dialect;
  readonly #sql: SQL;
  readonly #reserved: ReservedSQL;
  readonly #timeoutMs: number;

  private constructor(dialect: Dialect, sql: SQL, reserved: ReservedSQL, timeoutMs: number) {
    this.dialect = dialect;
    this.#sql = sql;
    this.#reserved = reserved;
    this.#timeoutMs = timeoutMs;
  }

  static async open(url: string, timeoutMs: number): Promise<ServerConnection> {
    const dialect = serverDialect(url);
    const sql = await createClient(url, dialect);
    try {
      const reserved = await within(timeoutMs, sql.reserve());
      const connection = new ServerConnection(dialect, sql, reserved, timeoutMs);
      for (const statement of dialect.begin) await connection.run(statement);
      return connection;
    } catch (error) {
      await sql.close({ timeout: 0 });
      throw error;
    }
  }

  /** Sends a template, of which a server takes only one statement, unlike text from `unsafe`. */
  async run(sql: string): Promise<QueryReply> {
    const template = Object.defineProperty([sql], "raw", { value: [sql] });
    const reply = this.#reserved<ServerReply>(template as string[] & { raw: string[] });
    const rows = await within(this.#timeoutMs, reply, "; run ANALYZE there, or raise --timeout");
    return { rows, columns: (rows.columns ?? []).map(({ name }) => name) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#reserved.release();
    await this.#sql.close({ timeout: 0 });
  }
}

async function createClient(url: string, dialect: Dialect): Promise<SQL> {
  const { SQL } = await import("bun");
  const options: SQL.Options = {
    url,
    max: 1,
    connectionTimeout: 0,
    prepare: !dialect.keepsPrepared,
    bigint: true,
  };

  // Otherwise, variables such as PGDATABASE would win over the URL.
  const database = decodeURIComponent(URL.parse(url)?.pathname.slice(1) ?? "");
  if (database !== "") options.database = database;
  return new SQL(options);
}

/** Rejects if `reply` takes longer. Bun's own timeouts end with the handshake. */
export function within<T>(timeoutMs: number, reply: Promise<T>, advice = ""): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const silence = `timed out: the database sent nothing for ${timeoutMs / 1000} s`;
  const timer = setTimeout(() => reject(new Error(silence + advice)), timeoutMs);
  return Promise.race([reply, promise]).finally(() => clearTimeout(timer));
}
