/**
 * The interface between Roadbook and SQLite: drizzle on top of one of two drivers. The `#sqlite`
 * entry in package.json selects Bun's own SQLite under Bun and better-sqlite3 under Node.
 *
 * | what | how |
 * |---|---|
 * | rows of the tables in `schema.ts` | drizzle's query builder |
 * | the same, many times or one row after another | {@link prepareText} of such a query |
 * | other SQL with values or common parts that runs once | drizzle's `sql` |
 * | other SQL that runs many times or yields rows, such as bulk inserts and FTS5 queries | `$client` |
 * | commands such as BEGIN and CREATE TABLE, and files without these tables, such as id maps | `$client` |
 */
import { Column, fillPlaceholders, is, type Query, SQL } from "drizzle-orm";
import type { BaseSQLiteDatabase } from "drizzle-orm/sqlite-core";

type SqlValue = string | number | Uint8Array | null;

export interface Statement<Row> {
  get(...values: SqlValue[]): Row | null | undefined;
  all(...values: SqlValue[]): Row[];
  iterate(...values: SqlValue[]): IterableIterator<Row>;
  run(...values: SqlValue[]): { changes: number | bigint };
}

export interface Sqlite {
  prepare<Row = unknown>(sql: string): Statement<Row>;
  exec(sql: string): void;
  serialize(): Uint8Array;
  close(): void;
}

export type Database = BaseSQLiteDatabase<"sync", unknown> & { $client: Sqlite };

/** The values of a query's placeholders, by name. */
type NamedValues = Record<string, SqlValue>;

/**
 * Prepares the text of a query without drizzle, which cannot yield rows one by one, and with which
 * reading a profile takes longer. Throws unless each field is named as its column. A statement throws if
 * the value of a placeholder is missing.
 */
export function prepareText<Row>(
  { $client }: Database,
  query: { _: { selectedFields: object }; all(): Row[]; toSQL(): Query },
) {
  for (const [name, field] of Object.entries(query._.selectedFields)) {
    const column = is(field, SQL.Aliased) ? field.fieldAlias : is(field, Column) && field.name;
    if (column !== name) throw new TypeError(`the field ${name} is not named as its column`);
  }

  const { sql, params } = query.toSQL();
  const statement = $client.prepare<Row>(sql);
  const inOrder = (values: NamedValues) => fillPlaceholders(params, values) as SqlValue[];
  return {
    get: (values: NamedValues) => statement.get(...inOrder(values)) ?? undefined,
    all: (values: NamedValues) => statement.all(...inOrder(values)),
    iterate: (values: NamedValues = {}) => statement.iterate(...inOrder(values)),
  };
}

export interface SqliteDriver {
  /** Bun's driver does not lock the file. Truncating it would end the process if it is mapped. */
  openImmutable(path: string): Database;
  openBytes(bytes: Uint8Array): Database;
  openWritable(path: string): Database;
  /** Opens an empty file, which SQLite deletes when it is closed. */
  openTemporary(): Database;
  /** Opens an empty database or a copy of one, in memory. */
  openMemory(bytes?: Uint8Array): Database;
}
