/** The SQLite driver under Node, where test rigs run: better-sqlite3. */
import Database from "better-sqlite3";
import {
  READ_CACHE,
  type Sqlite,
  type SqliteDriver,
  type Statement,
  type Value,
} from "./driver.ts";

export const sqlite: SqliteDriver = {
  openImmutable(path) {
    const database = wrap(new Database(path, { readonly: true }));
    // This driver takes no URI, so no immutable=1: one lock for good instead of one a query.
    database.exec("PRAGMA locking_mode = EXCLUSIVE");
    database.exec(READ_CACHE);
    return database;
  },
  openBytes: (bytes) => wrap(new Database(Buffer.from(bytes), { readonly: true })),
  openWritable,
  openUnguarded: openWritable,
};

/** Rows are written while others are read, which this driver otherwise refuses, unlike Bun's. */
function openWritable(path: string): Sqlite {
  return wrap(new Database(path).unsafeMode());
}

function wrap(database: Database.Database): Sqlite {
  return {
    prepare<Row>(sql: string): Statement<Row> {
      const statement = database.prepare<Value[], Row>(sql);
      return {
        get: (...values) => statement.get(...values),
        all: (...values) => statement.all(...values),
        iterate: (...values) => statement.iterate(...values),
        run: (...values) => statement.run(...values).changes,
      };
    },
    exec: (sql) => void database.exec(sql),
    close: () => void database.close(),
  };
}
