/**
 * The interface between Roadbook and SQLite: drizzle on top of one of two drivers. The `#sqlite`
 * entry in package.json selects bun:sqlite under Bun and better-sqlite3 under Node.
 */
import type { BaseSQLiteDatabase } from "drizzle-orm/sqlite-core";

export type Value = string | number | Uint8Array | null;

/** A prepared statement, for SQL that drizzle cannot express, such as FTS5 queries. */
export interface Statement<Row> {
  get(...values: Value[]): Row | null | undefined;
  all(...values: Value[]): Row[];
  iterate(...values: Value[]): IterableIterator<Row>;
  /** `changes` is the number of rows changed. */
  run(...values: Value[]): { changes: number | bigint };
}

/** A connection to SQLite that does not go through drizzle. */
export interface Sqlite {
  prepare<Row = unknown>(sql: string): Statement<Row>;
  exec(sql: string): void;
  close(): void;
}

export type Database = BaseSQLiteDatabase<"sync", { changes: number | bigint }> & {
  $client: Sqlite;
};

export interface SqliteDriver {
  /**
   * Opens a file for reading. Nothing may write to the open file, because Bun's driver does not
   * lock it.
   */
  openImmutable(path: string): Database;
  /** Opens the bytes of a database file for reading. */
  openBytes(bytes: Uint8Array): Database;
  /** Opens a file for writing. Creates the file if it does not exist. */
  openWritable(path: string): Database;
  /**
   * Like {@link openWritable}, but without drizzle. FTS5's internal tables are writable as well.
   */
  openConnection(path: string): Sqlite;
}

/**
 * Caches up to 32 MB of pages. The file is not memory-mapped, because overwriting a served file
 * would then crash the process with a bus error. Without a memory map, a search of a million names
 * takes 0.44 ms instead of 0.42 ms.
 */
export const READ_CACHE = "PRAGMA cache_size = -32768";
