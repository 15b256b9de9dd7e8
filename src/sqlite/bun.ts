/** The SQLite driver under Bun and inside the executable: Bun's own. */
import { constants, Database } from "bun:sqlite";
import { DatabaseSync } from "node:sqlite";
import {
  READ_CACHE,
  type Sqlite,
  type SqliteDriver,
  type Statement,
  type Value,
} from "./driver.ts";

export const sqlite: SqliteDriver = {
  openImmutable(path) {
    const flags = constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI;
    const database = wrap(new Database(immutableUri(path), flags));
    database.exec(READ_CACHE);
    return database;
  },
  openBytes: (bytes) => wrap(Database.deserialize(bytes, true)),
  openWritable: (path) => wrap(new Database(path, { create: true, readwrite: true })),
  openUnguarded: (path) => named(() => wrapUnguarded(new DatabaseSync(path, { defensive: false }))),
};

function wrap(database: Database): Sqlite {
  // Bun keeps a closed file open, with its locks, until its statements are collected as garbage.
  const statements: { finalize(): void }[] = [];
  return {
    prepare<Row>(sql: string): Statement<Row> {
      const statement = database.prepare<Row, Value[]>(sql);
      statements.push(statement);
      return {
        get: (...values) => statement.get(...values) ?? undefined,
        all: (...values) => statement.all(...values),
        iterate: (...values) => statement.iterate(...values),
        run: (...values) => statement.run(...values).changes,
      };
    },
    exec: (sql) => void database.run(sql),
    close() {
      for (const statement of statements) statement.finalize();
      database.close();
    },
  };
}

/** Bun's bun:sqlite guards FTS5's own tables and has no setting for it; its node:sqlite has. */
function wrapUnguarded(database: DatabaseSync): Sqlite {
  return {
    prepare<Row>(sql: string): Statement<Row> {
      const statement = named(() => database.prepare(sql));
      return {
        get: (...values) => named(() => statement.get(...values)) as Row | undefined,
        all: (...values) => named(() => statement.all(...values)) as Row[],
        iterate: (...values) => named(() => statement.iterate(...values)) as IterableIterator<Row>,
        // Millions of times in an import, so without a closure for each.
        run(...values) {
          try {
            return Number(statement.run(...values).changes);
          } catch (error) {
            throw withCode(error);
          }
        },
      };
    },
    exec: (sql) => named(() => database.exec(sql)),
    close: () => database.close(),
  };
}

/** The results that say what the system refused SQLite; its extended ones have more bits. */
const codes: Record<number, string> = {
  3: "SQLITE_PERM",
  8: "SQLITE_READONLY",
  10: "SQLITE_IOERR",
  13: "SQLITE_FULL",
  14: "SQLITE_CANTOPEN",
};

function named<T>(use: () => T): T {
  try {
    return use();
  } catch (error) {
    throw withCode(error);
  }
}

/** Gives an error of node:sqlite the code that bun:sqlite has. */
function withCode(error: unknown): unknown {
  const { errcode = 0 } = error as { errcode?: number };
  return Object.assign(error as Error, { code: codes[errcode & 0xff] ?? "SQLITE_ERROR" });
}

/** The file as a SQLite URI that says no one will change it. */
function immutableUri(path: string): string {
  return `file:${encodeURI(path).replaceAll("?", "%3f").replaceAll("#", "%23")}?immutable=1`;
}
