/**
 * The SQLite driver for Bun and for the executable. It reads through bun:sqlite, and writes through
 * node:sqlite, because bun:sqlite makes FTS5's internal tables read-only. Both are the same SQLite.
 */
import { Database as Client, constants } from "bun:sqlite";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { drizzle } from "drizzle-orm/bun-sqlite";
import type { Database, SqliteDriver } from "./driver.ts";

export const sqlite: SqliteDriver = {
  openImmutable(path) {
    const flags = constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI;
    return open(closingAtOnce(new Client(`${pathToFileURL(path)}?immutable=1`, flags)));
  },
  openBytes: (bytes) => open(closingAtOnce(Client.deserialize(bytes, { readonly: true }))),
  openWritable: (path) => open(new WritableClient(path, { defensive: false })),
  openTemporary: () => sqlite.openWritable(""),
  openMemory(bytes) {
    const client = new WritableClient(":memory:", { defensive: false });
    if (bytes) client.deserialize(bytes);
    return open(client);
  },
};

/** Otherwise, Bun keeps a file open, and answers, until the statements are collected. */
function closingAtOnce(client: Client): Client {
  return Object.assign(client, { close: () => Client.prototype.close.call(client, true) });
}

/** Has all that drizzle calls of a client of bun:sqlite: its statements have the method `values`, too. */
class WritableClient extends DatabaseSync {
  /** Unlike the other clients, node:sqlite throws if it has been closed. */
  override close(): void {
    if (this.isOpen) super.close();
  }

  override prepare(query: string) {
    const statement = super.prepare(query);
    const values = (...parameters: Parameters<typeof statement.all>) => {
      statement.setReturnArrays(true);
      try {
        return statement.all(...parameters);
      } finally {
        statement.setReturnArrays(false);
      }
    };
    return Object.assign(statement, { values });
  }
}

/** drizzle's types do not know that the few methods it calls are enough. */
function open(client: Client | WritableClient): Database {
  return drizzle({ client: client as Client }) as Database;
}
