/**
 * The seam between Roadbook and a SQLite driver: what both drivers offer. Which one is used is
 * decided by the `#sqlite` entry of package.json: Bun's own under Bun, better-sqlite3 under Node.
 */

export type Value = string | number | Uint8Array | null;

export interface Statement<Row> {
  get(...values: Value[]): Row | undefined;
  all(...values: Value[]): Row[];
  iterate(...values: Value[]): IterableIterator<Row>;
  /** `changes` are the rows changed. */
  run(...values: Value[]): { changes: number | bigint };
}

export interface Sqlite {
  prepare<Row = unknown>(sql: string): Statement<Row>;
  exec(sql: string): void;
  close(): void;
}

export interface SqliteDriver {
  /** A file to read that nobody writes to, ever: SQLite takes no locks. */
  openImmutable(path: string): Sqlite;
  /** A whole database file held in memory, to read. */
  openBytes(bytes: Uint8Array): Sqlite;
  /** A file to write, made when it is missing; the tables that FTS5 keeps its lists in are open, too. */
  openWritable(path: string): Sqlite;
}

/**
 * Pages of an open file are kept in 32 MB of memory, and are not mapped: whoever copies over a file
 * that is served would end a process that has it mapped by a bus error. A million names searched over
 * HTTP take 5 % longer at the median and at p99 (0.44 ms instead of 0.42).
 */
export const READ_CACHE = "PRAGMA cache_size = -32768";

/** No value in a snapshot is nearly as long; a file that somebody else has made may claim a gigabyte. */
export const MAX_VALUE_BYTES = 2 ** 24;
