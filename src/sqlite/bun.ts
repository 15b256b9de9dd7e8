/**
 * The SQLite driver under Bun and inside the executable: Bun's own, as node:sqlite, since bun:sqlite
 * guards FTS5's own tables and has no setting for it. Who writes a statement says what its rows hold.
 */
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { MAX_VALUE_BYTES, READ_CACHE, type Sqlite, type SqliteDriver } from "./driver.ts";

const limits = { length: MAX_VALUE_BYTES };

export const sqlite: SqliteDriver = {
  openImmutable(path) {
    const database = new DatabaseSync(`${pathToFileURL(path)}?immutable=1`, {
      readOnly: true,
      limits,
    });
    database.exec(READ_CACHE);
    return database as Sqlite;
  },
  openBytes(bytes) {
    const database = new DatabaseSync(":memory:", { limits });
    database.deserialize(bytes);
    return database as Sqlite;
  },
  openWritable: (path) => new DatabaseSync(path, { defensive: false }) as Sqlite,
};
