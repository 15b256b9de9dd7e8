/**
 * The SQLite driver for Bun and for the executable: node:sqlite, which is as fast as bun:sqlite, and
 * unlike it can write FTS5's internal tables.
 */
import type { Database as BunClient } from "bun:sqlite";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { drizzle } from "drizzle-orm/bun-sqlite";
import type { Database, SqliteDriver } from "./driver.ts";

export const sqlite: SqliteDriver = {
  openImmutable: (path) =>
    open(new Client(`${pathToFileURL(path)}?immutable=1`, { readOnly: true })),
  openBytes: (bytes) => sqlite.openMemory(bytes),
  openWritable: (path) => open(new Client(path, { defensive: false })),
  openTemporary: () => sqlite.openWritable(""),
  openMemory(bytes) {
    const client = new Client(":memory:", { defensive: false });
    if (bytes) client.deserialize(bytes);
    return open(client);
  },
};

/** Has what drizzle needs of bun:sqlite: a method `values` of statements, through which it reads rows. */
class Client extends DatabaseSync {
  /** Unlike the other clients, node:sqlite throws if it has been closed. */
  override close(): void {
    if (this.isOpen) super.close();
  }

  override prepare(query: string) {
    const statement = super.prepare(query);
    const values = (...given: Parameters<typeof statement.all>) => {
      statement.setReturnArrays(true);
      try {
        return statement.all(...given);
      } finally {
        statement.setReturnArrays(false);
      }
    };
    return Object.assign(statement, { values });
  }
}

/** drizzle's types know no client but bun:sqlite's, and not that `run` returns the changes. */
function open(client: Client): Database {
  return drizzle({ client: client as unknown as BunClient }) as unknown as Database;
}
