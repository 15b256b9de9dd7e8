/**
 * The SQLite driver for Bun and for the executable: bun:sqlite for reading, and node:sqlite for
 * writing, because bun:sqlite makes FTS5's internal tables read-only.
 */
import { Database as Client, constants } from "bun:sqlite";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { drizzle } from "drizzle-orm/bun-sqlite";
import type { Database, SqliteDriver } from "./driver.ts";

export const sqlite: SqliteDriver = {
  openImmutable(path) {
    const flags = constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI;
    return open({ client: new Client(`${pathToFileURL(path)}?immutable=1`, flags) });
  },
  openBytes: (bytes) => open({ client: Client.deserialize(bytes, { readonly: true }) }),
  openWritable(source) {
    const isPath = typeof source === "string";
    const client = new WritableClient(isPath ? source : ":memory:", { defensive: false });
    if (!isPath) client.deserialize(source);
    return open({ client });
  },
};

/** Its statements have the method `values` of bun:sqlite, through which drizzle reads rows. */
class WritableClient extends DatabaseSync {
  override prepare(query: string) {
    const statement = super.prepare(query);
    const values = (...given: Parameters<typeof statement.all>) => {
      statement.setReturnArrays(true);
      const rows = statement.all(...given);
      statement.setReturnArrays(false);
      return rows;
    };
    return Object.assign(statement, { values });
  }
}

/** drizzle's types know no client but bun:sqlite's, and not that `run` returns the changes. */
const open = drizzle as unknown as (config: { client: Client | WritableClient }) => Database;
