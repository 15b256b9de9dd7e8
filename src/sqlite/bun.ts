/** The SQLite driver for Bun and the executable, which uses Bun's own SQLite. */
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
  // bun:sqlite makes the internal tables of FTS5 read-only and has no setting for it.
  openConnection: (path) => new DatabaseSync(path, { defensive: false }) as Sqlite,
};

/**
 * A database whose `close` also finalizes its statements. Otherwise the file and its page cache
 * stay open until the garbage collector frees them.
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
  // `run` returns the number of changed rows, which drizzle's types for this driver do not declare.
  return drizzle(tracked as Client) as unknown as Database;
}
