/** The SQLite driver under Node, where test rigs run: better-sqlite3. */
import Client from "better-sqlite3";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { type Database, READ_CACHE, type Sqlite, type SqliteDriver } from "./driver.ts";

export const sqlite: SqliteDriver = {
  openImmutable(path) {
    const client = new Client(path, { readonly: true });
    // This driver takes no URI, so no immutable=1: one lock for good instead of one per query.
    client.exec("PRAGMA locking_mode = EXCLUSIVE");
    return drizzle(client.exec(READ_CACHE)) as Database;
  },
  openBytes: (bytes) => drizzle(new Client(Buffer.from(bytes), { readonly: true })) as Database,
  openWritable: (path) => drizzle(open(path)) as Database,
  openConnection: (path) => open(path) as Sqlite,
};

/** Rows are written while others are read, which this driver otherwise refuses, unlike Bun's. */
function open(path: string) {
  return new Client(path).unsafeMode();
}
