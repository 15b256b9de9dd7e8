/**
 * The SQLite driver for Bun and for the executable: bun:sqlite for reading, and node:sqlite for
 * writing, because bun:sqlite makes FTS5's internal tables read-only.
 */
import { Database as Client, constants, type Statement } from "bun:sqlite";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { cacheSql, type Database, type SqliteDriver } from "./driver.ts";

const { SQLITE_OPEN_READONLY, SQLITE_OPEN_URI } = constants;

export const sqlite: SqliteDriver = {
  openImmutable(path, isMapped) {
    const url = `${pathToFileURL(path)}?immutable=1`;
    const client = new Client(url, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
    client.exec(cacheSql(isMapped));
    return open(client);
  },
  openBytes: (bytes) => open(Client.deserialize(bytes, { readonly: true })),
  openWritable(source) {
    const isPath = typeof source === "string";
    const client = new DatabaseSync(isPath ? source : ":memory:", { defensive: false });
    if (!isPath) client.deserialize(source);
    return drizzle({ client: asBunClient(client) }) as unknown as Database;
  },
};

/**
 * Returns a database whose `close` also finalizes its statements. Otherwise, the file would stay
 * open, and its page cache in memory, until the statements are garbage-collected.
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
  return drizzle(tracked as Client) as unknown as Database;
}

/** Gives statements the method `values` of bun:sqlite, through which drizzle reads rows. */
function asBunClient(client: DatabaseSync): Client {
  const prepare = client.prepare.bind(client);
  const prepareWithValues = (query: string) => {
    const statement = prepare(query);
    const values = (...given: Parameters<typeof statement.all>) => {
      statement.setReturnArrays(true);
      const rows = statement.all(...given);
      statement.setReturnArrays(false);
      return rows;
    };
    return Object.assign(statement, { values });
  };
  return Object.assign(client, { prepare: prepareWithValues }) as unknown as Client;
}
