/**
 * Bounds of what is read from a snapshot, held before it is read: where Roadbook writes some bytes, a
 * file that somebody else has made may have a gigabyte.
 */
import { type Column, type SQL, sql } from "drizzle-orm";
import { InvalidSnapshot } from "./file.ts";

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

/** The same for a column of text, to be selected; see {@link textOf}. */
export function boundedText(column: Column, maxBytes: number): SQL<string | 0> {
  return sql`iif(octet_length(${column}) > ${sql.raw(String(maxBytes))}, 0, ${column})`;
}

/** Throws an {@link InvalidSnapshot} when the text is too long. */
export function textOf(value: string | 0): string {
  if (value !== 0) return value;
  throw new InvalidSnapshot("is damaged: it has a text that is longer than any");
}
