/** The SQLite driver under Bun and inside the executable: Bun's own. */
import { constants, Database } from "bun:sqlite";
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

/** The file as a SQLite URI that says no one will change it. */
function immutableUri(path: string): string {
  return `file:${encodeURI(path).replaceAll("?", "%3f").replaceAll("#", "%23")}?immutable=1`;
}
