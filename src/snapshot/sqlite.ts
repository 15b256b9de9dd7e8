/**
 * The seam between Roadbook and a SQLite driver: what both drivers offer. Which one is used is
 * decided by the `#sqlite` entry of package.json: Bun's own under Bun, better-sqlite3 under Node.
 */
import type { BaseSQLiteDatabase } from "drizzle-orm/sqlite-core";

export type Value = string | number | null;

export interface Statement<Row> {
  get(...values: Value[]): Row | undefined;
  all(...values: Value[]): Row[];
  iterate(...values: Value[]): IterableIterator<Row>;
  /** The number of rows changed. */
  run(...values: Value[]): number;
}

export interface Sqlite {
  prepare<Row = unknown>(sql: string): Statement<Row>;
  exec(sql: string): void;
  close(): void;
  /** The same connection through drizzle. */
  orm: BaseSQLiteDatabase<"sync", unknown>;
}

export interface SqliteDriver {
  /** A file to read that nobody writes to, ever: SQLite takes no locks and maps it into memory. */
  openImmutable(path: string): Sqlite;
  /** A whole database file held in memory, read only. */
  openBytes(bytes: Uint8Array): Sqlite;
  /** A file to write, made when it is missing. */
  openWritable(path: string): Sqlite;
}

/** Above SQLite's own ceiling of 2 GB, so as much as it maps. */
export const MAP_ALL = "PRAGMA mmap_size = 4294967296";
