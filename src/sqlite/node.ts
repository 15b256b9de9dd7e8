/** The SQLite driver for Node, based on better-sqlite3. */
import Client from "better-sqlite3";
import { drizzle } from "drizzle-orm/better-sqlite3";
import type { Database, SqliteDriver } from "./driver.ts";

export const sqlite: SqliteDriver = {
  openImmutable(path) {
    const client = new Client(path, { readonly: true });
    // better-sqlite3 does not accept a URI with immutable=1, so the connection keeps a lock.
    return drizzle(client.exec("PRAGMA locking_mode = EXCLUSIVE")) as Database;
  },
  openBytes: (bytes) => drizzle(new Client(Buffer.from(bytes), { readonly: true })) as Database,
  openWritable,
  openTemporary: () => openWritable(""),
  openMemory: (bytes) => openWritable(bytes ? Buffer.from(bytes) : ":memory:"),
};

function openWritable(source: string | Buffer): Database {
  // Bun's driver accepts writes during an iteration. better-sqlite3 does so only in unsafe mode.
  return drizzle(new Client(source).unsafeMode()) as Database;
}
