/**
 * Bounds of what is read from a snapshot, held before it is read: where Roadbook writes some bytes, a
 * file that somebody else has made may have a gigabyte.
 */
import { type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { InvalidSnapshot } from "./file.ts";

/** Of a thousand achievements, and of the longest name with all its characters escaped. */
export const MAX_TEXT_BYTES = 2 ** 16;

/** SQL for the value of a column, and 0 for one of more than `maxBytes`; see {@link bytesOf}. */
export function bounded(column: string, maxBytes: number): string {
  return `iif(octet_length(${column}) > ${maxBytes}, 0, ${column})`;
}

/** What SQL as {@link bounded} makes it gives for a column of bytes. */
export type Bounded = Uint8Array | 0 | null;

/** Throws an {@link InvalidSnapshot} when there are too many bytes, or none are there. */
export function bytesOf(value: Bounded): Uint8Array | null {
  if (typeof value === "object") return value;
  throw new InvalidSnapshot("is damaged: it has a list that is longer than any");
}

/** A column of text, to be selected; to read a longer one throws an {@link InvalidSnapshot}. */
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
  throw new InvalidSnapshot("is damaged: it has a text that is longer than any");
}
