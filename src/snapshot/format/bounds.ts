/**
 * Checks the length of each value in a snapshot before reading the value. In a file that Roadbook
 * did not write, a value could be a gigabyte long where Roadbook writes a few bytes.
 */
import { type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { InvalidSnapshot } from "./file.ts";

/** Enough for a thousand achievements, and for the longest name with every character escaped. */
export const MAX_TEXT_BYTES = 2 ** 16;

/**
 * Returns SQL that selects a column's value, or 0 if the value is longer than `maxBytes`; see
 * {@link bytesOf}.
 */
export function bounded(column: string, maxBytes: number): string {
  return `iif(octet_length(${column}) > ${maxBytes}, 0, ${column})`;
}

/** The result of {@link bounded} for a BLOB column. */
export type Bounded = Uint8Array | 0 | null;

/** Returns the value, or throws an {@link InvalidSnapshot} if the value was too long to read. */
export function bytesOf(value: Bounded): Uint8Array | null {
  if (typeof value === "object") return value;
  throw new InvalidSnapshot("is damaged: it has a list longer than Roadbook writes");
}

/** Selects a text column. Reading more than `maxBytes` throws an {@link InvalidSnapshot}. */
export function boundedText<Column extends SQLiteColumn>(
  column: Column,
  maxBytes = MAX_TEXT_BYTES,
) {
  type Text = Column["_"]["notNull"] extends true ? string : string | null;
  const text: SQL<Text> = sql`iif(octet_length(${column}) > ${sql.raw(String(maxBytes))}, 0, ${column})`;
  return text.mapWith(textOf) as SQL<Text>;
}

function textOf(value: string | 0): string {
  if (value !== 0) return value;
  throw new InvalidSnapshot("is damaged: it has a text longer than Roadbook writes");
}
