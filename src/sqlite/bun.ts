/** The SQLite driver for Bun and for the executable, based on Bun's built-in SQLite. */
import { Database as Client, constants, type Statement } from "bun:sqlite";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { type Database, READ_CACHE, type Sqlite, type SqliteDriver } from "./driver.ts";

const { SQLITE_OPEN_READONLY, SQLITE_OPEN_URI } = constants;

export const sqlite: SqliteDriver = {
  openImmutable(path) {
    const url = `${pathToFileURL(path)}?immutable=1`;
    const client = new Client(url, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
    client.run(READ_CACHE);
    return open(client);
  },
  openBytes: (bytes) => open(Client.deserialize(bytes, { readonly: true })),
  openWritable: (path) => open(new Client(path)),
  // Uses node:sqlite, because bun:sqlite makes FTS5's internal tables read-only and has no setting
  // to change that.
  openConnection: (path) => new DatabaseSync(path, { defensive: false }) as Sqlite,
};

/**
 * Returns a database whose `close` also finalizes its statements. Otherwise, the file would stay
 * open, and its page cache would stay in memory, until the statements are garbage-collected.
 */
function open(client: Client): Database {
  const statements: Statement[] = [];
  const prepare = client.prepare.bind(client);
  const close = client.close.bind(client);
  const tracked = Object.assign(client, {
    prepare: (query: string) => {
      const statement = prepare(query);
      statements.push(statement);
      return statement;
    },
    close() {
      for (const statement of statements) statement.finalize();
      close();
    },
  });
  // `run` does return the number of changed rows, although drizzle's types for this driver omit it.
  return drizzle(tracked as Client) as unknown as Database;
}
