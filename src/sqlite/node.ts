/** The SQLite driver under Node, where test rigs run: better-sqlite3. */
import Database from "better-sqlite3";
import { READ_CACHE, type SqliteDriver } from "./driver.ts";

export const sqlite: SqliteDriver = {
  openImmutable(path) {
    const database = new Database(path, { readonly: true });
    // This driver takes no URI, so no immutable=1: one lock for good instead of one a query.
    database.exec("PRAGMA locking_mode = EXCLUSIVE");
    return database.exec(READ_CACHE);
  },
  openBytes: (bytes) => new Database(Buffer.from(bytes), { readonly: true }),
  // Rows are written while others are read, which this driver otherwise refuses, unlike Bun's.
  openWritable: (path) => new Database(path).unsafeMode(),
};
