/** The SQLite driver for Node, based on better-sqlite3. */
import Client from "better-sqlite3";
import { drizzle } from "drizzle-orm/better-sqlite3";
import type { Database, SqliteDriver } from "./driver.ts";

export const sqlite: SqliteDriver = {
  openImmutable(path) {
    const client = openClient(path, { readonly: true });
    // better-sqlite3 does not accept a URI with immutable=1, so the connection keeps a lock.
    return drizzle(client.exec("PRAGMA locking_mode = EXCLUSIVE")) as Database;
  },
  openBytes: (bytes) => drizzle(openClient(Buffer.from(bytes), { readonly: true })) as Database,
  openWritable,
  openTemporary: () => openWritable(""),
  openMemory: (bytes) => openWritable(bytes ? Buffer.from(bytes) : ":memory:"),
};

function openWritable(source: string | Buffer): Database {
  // Bun's driver accepts writes during an iteration. better-sqlite3 does so only in unsafe mode.
  return drizzle(openClient(source).unsafeMode()) as Database;
}

/** Opens a database. The first call loads compiled code, for which the system may be too old. */
function openClient(...args: ConstructorParameters<typeof Client>) {
  try {
    return new Client(...args);
  } catch (error) {
    const [, name = "", version] = /`([A-Z]+)_([\d.]+)' not found/.exec(String(error)) ?? [];
    if (version === undefined) throw error;
    const library = name === "GLIBC" ? `glibc ${version}` : `a libstdc++ with ${name}_${version}`;
    throw new Error(
      `this system is too old for better-sqlite3, which needs ${library}; use Roadbook's executable, which needs glibc 2.17`,
    );
  }
}
