/**
 * Converts the cells of databases and CSV files into the values of dataset lines. A cell that cannot be
 * converted stays as it is, so that validation rejects and quotes it, or becomes an {@link InvalidCell}
 * with advice that only tables need.
 */
import { isUtf8 } from "node:buffer";
import { digitsOf, toKey } from "../domain/keys.ts";
import { languages } from "../domain/languages.ts";
import { isPlaceholder, isUncomputed } from "../domain/text.ts";
import { FORMULA_ADVICE, InvalidCell, NO_VALUE_ADVICE } from "../domain/validation-errors.ts";

/** The form of ids: integers, or keys, which can be of any kind. */
export interface IdFormat {
  /** Reads an id from a cell. Returns anything else unchanged, so that validation quotes it. */
  read(cell: unknown): unknown;
  /** Whether what `read` has returned is an id. */
  isId(value: unknown): value is number | string;
}

/** Keys need an id map. */
export const idFormats = {
  integers: {
    read: toInteger,
    isId: (value): value is number => Number.isSafeInteger(value) && Number(value) > 0,
  },
  keys: {
    read: (cell) => toKey(cell) ?? toInteger(cell),
    isId: (value): value is number | string => toKey(value) !== undefined,
  },
} satisfies Record<string, IdFormat>;

/** Reads 0 as no company. Advises on what is no id of a company, but may be its name. */
export function toCompanyId(cell: unknown, ids: IdFormat): unknown {
  const id = ids.read(cell);
  if (!id || id === "0") return undefined;
  const isName = typeof id === "string" && /\p{L}{2}/u.test(id) && !ids.isId(id);
  return isName && !isPlaceholder(id) && !isUncomputed(id) ? new InvalidCell(id, NAME_ADVICE) : id;
}

const NAME_ADVICE = "; call the column company if it has names; such ids need --id-map FILE";

/** Returns undefined for null and for empty text. An integer beyond 2^53 becomes a bigint. */
export function toInteger(cell: unknown): unknown {
  const value = trimmed(cell);
  const digits = digitsOf(asText(value));
  if (digits === undefined) return value === "" ? undefined : value;
  return Number.isSafeInteger(Number(digits)) ? Number(digits) : BigInt(digits);
}

// Databases and people write these words, and spreadsheets in the languages of the page.
// MySQL's own client writes a bit as a control character.
const wordsFor = (value: "true" | "false") =>
  Object.values(languages).flatMap(({ booleans }) => booleans[value]);
const TRUE = ["1", "\u0001", ...wordsFor("true")];
const FALSE = ["0", "\u0000", ...wordsFor("false")];

export function toPublic(cell: unknown): unknown {
  // MySQL's literal b'1' arrives as the byte 1, and its BIT(1) as a boolean.
  if (cell instanceof Uint8Array) return cell.length === 1 ? toPublic(cell[0]) : cell;

  const value = trimmed(cell);
  const text = asText(value).toLowerCase();
  if (TRUE.includes(text)) return true;
  if (FALSE.includes(text)) return false;
  if (typeof value !== "string" || value === "") return value;
  return new InvalidCell(value, /^[01][.,]0+$/.test(text) ? FLOAT_ADVICE : PUBLIC_ADVICE);
}

const PUBLIC_ADVICE = "; write yes or no, or remove the row if it is a total or a note";
const FLOAT_ADVICE =
  '; write 1 or 0 (pandas writes 1.0 where the column has gaps: add .fillna(0).astype("int"))';

/** Returns undefined for null. */
export function toText(cell: unknown): unknown {
  if (typeof cell === "number" || typeof cell === "bigint") return String(cell);
  return decoded(cell) ?? undefined;
}

/** Like {@link toText}, but trims text, and returns undefined if it is empty. */
export function toOptionalText(cell: unknown): unknown {
  return trimmed(toText(cell)) || undefined;
}

/** Reads what somebody is, unlike a name: nobody is called so. */
export function toTitle(cell: unknown): unknown {
  const title = toOptionalText(cell);
  return isPlaceholder(title) ? new InvalidCell(title, NO_VALUE_ADVICE) : withoutFormula(title);
}

/** In a database, this text can be somebody's name. */
export function withoutFormula(text: unknown): unknown {
  return isUncomputed(text) ? new InvalidCell(text, FORMULA_ADVICE) : text;
}

/** Decodes bytes that are text, such as MySQL's binary strings. */
function decoded(cell: unknown): unknown {
  return cell instanceof Uint8Array && isUtf8(cell) ? Buffer.from(cell).toString() : cell;
}

/** Like {@link decoded}, but removes the space around text, and returns undefined for null. */
export function trimmed(cell: unknown): unknown {
  const value = decoded(cell);
  return typeof value === "string" ? value.trim() : (value ?? undefined);
}

/** Returns a cell as text. An array of one element must not look like that element, so it is none. */
export function asText(cell: unknown): string {
  return typeof cell === "object" ? "" : String(cell);
}
