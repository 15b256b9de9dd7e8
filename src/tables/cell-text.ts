/** Normalizes the text of cells before it is converted. */
import { isUtf8 } from "node:buffer";

/** Decodes bytes that are text, such as MySQL's binary strings. */
export function decoded(cell: unknown): unknown {
  return cell instanceof Uint8Array && isUtf8(cell) ? Buffer.from(cell).toString() : cell;
}

/** Returns a cell as text. An array of one element must not look like that element, so it is none. */
export function asText(cell: unknown): string {
  return typeof cell === "object" ? "" : String(cell);
}

/** Removes the space around text, and returns undefined for null. */
export function trimmed(cell: unknown): unknown {
  return typeof cell === "string" ? cell.trim() : (cell ?? undefined);
}
