/**
 * The rules for cells: converts those of databases and CSV files into the values of dataset lines. A
 * cell that cannot be converted stays as it is, so that validation rejects and quotes it, or becomes
 * an {@link InvalidCell} with advice that only tables need.
 */
import { isUtf8 } from "node:buffer";
import type { RawRecord } from "../domain/dataset.ts";
import { digitsOf, toKey } from "../domain/keys.ts";
import { languages } from "../domain/languages.ts";
import { isPlaceholder, isUncomputed } from "../domain/text.ts";
import { FORMULA_ADVICE, InvalidCell, NO_VALUE_ADVICE } from "../domain/validation-errors.ts";
import { type DateOrders, toTime } from "./times.ts";

/** How the cells of one source differ from those of others. */
export interface CellFormat {
  /** Only MySQL sends a bit as a byte. */
  readonly dialect: { readonly hasBits: boolean };
  /** Whether people have written the cells in a spreadsheet, which shows errors as text. */
  readonly isSpreadsheet: boolean;
  /** The orders of day and month in a column, which differ from {@link toTime}'s own. */
  orderOf?(column: string): DateOrders | undefined;
}

/** Returns what converts the cells of a row. */
export function createCellConverter(
  ids: IdFormat,
  { dialect, isSpreadsheet, orderOf }: CellFormat,
): (row: RawRecord) => RawRecord {
  const converters: Partial<Record<string, (cell: unknown) => unknown>> = {
    // No cell, but where the row begins.
    line: () => undefined,
    id: ids.read,
    user_id: ids.read,
    role_id: ids.read,
    achievement_id: ids.read,
    company_id: (cell) => (ids.isNone(cell) ? undefined : withoutName(ids, ids.read(cell))),
    company: toTitle,
    company_role: toTitle,
    public: (cell) => (cell instanceof Uint8Array && !dialect.hasBits ? cell : toPublic(cell)),
    name: (cell) => (isSpreadsheet ? withoutFormula(toText(cell)) : toText(cell)),
    avatar_url: toOptionalText,
    created_at: (cell) => toTime(trimmed(decoded(cell)), orderOf?.("created_at")),
    unlocked_at: (cell) => toTime(trimmed(decoded(cell)), orderOf?.("unlocked_at")),
    hierarchy: toInteger,
    tier: toInteger,
    points: toInteger,
    member_count: toInteger,
  };

  return (row) => {
    const fields: RawRecord = {};
    for (const name in row) {
      const value = (converters[name] ?? toText)(row[name]);
      // Without undefined values, so that validation reports what is missing.
      if (value !== undefined) fields[name] = value;
    }
    return fields;
  };
}

/** The form of ids: integers, or keys, which can be of any kind. */
export interface IdFormat {
  /** Reads an id from a cell. Returns anything else unchanged, so that validation quotes it. */
  read(cell: unknown): unknown;
  /** Whether a cell refers to nothing, such as 0. */
  isNone(cell: unknown): boolean;
  /** Whether what `read` has returned is an id. */
  isId(value: unknown): value is number | string;
}

/** Keys need an id map. */
export const idFormats = {
  integers: {
    read: toInteger,
    isNone: (cell) => !toInteger(cell),
    isId: (value): value is number => Number.isSafeInteger(value) && Number(value) > 0,
  },
  keys: {
    read: (cell) => toKey(cell) ?? toInteger(cell),
    isNone: (cell) => !(cell instanceof Uint8Array) && !toInteger(cell),
    isId: (value): value is number | string => toKey(value) !== undefined,
  },
} satisfies Record<string, IdFormat>;

/** Returns undefined for null and for empty text. An integer beyond 2^53 becomes a bigint. */
export function toInteger(cell: unknown): unknown {
  const value = trimmed(decoded(cell));
  const digits = digitsOf(asText(value));
  if (digits === undefined) return value === "" ? undefined : value;
  return Number.isSafeInteger(Number(digits)) ? Number(digits) : BigInt(digits);
}

// Databases and people write these words, and spreadsheets in the languages of the page.
// MySQL's own client writes a bit as a control character.
const TRUE = ["1", "\u0001", ...Object.values(languages).flatMap(({ booleans }) => booleans.true)];
const FALSE = [
  "0",
  "\u0000",
  ...Object.values(languages).flatMap(({ booleans }) => booleans.false),
];

export function toPublic(cell: unknown): unknown {
  // MySQL's literal b'1' arrives as the byte 1, and its BIT(1) as a boolean.
  const value = cell instanceof Uint8Array && cell.length === 1 ? cell[0] : trimmed(cell);
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
function toText(cell: unknown): unknown {
  if (typeof cell === "number" || typeof cell === "bigint") return String(cell);
  return decoded(cell) ?? undefined;
}

/** Like {@link toText}, but trims text, and returns undefined if it is empty. */
function toOptionalText(cell: unknown): unknown {
  return trimmed(toText(cell)) || undefined;
}

/** Reads what somebody is, unlike a name: nobody is called so. */
function toTitle(cell: unknown): unknown {
  const title = toOptionalText(cell);
  return isPlaceholder(title) ? new InvalidCell(title, NO_VALUE_ADVICE) : withoutFormula(title);
}

/** Advises on what is no id of a company, but may be its name. */
function withoutName(ids: IdFormat, id: unknown): unknown {
  const isName = typeof id === "string" && /\p{L}{2}/u.test(id) && !ids.isId(id);
  return isName && !isPlaceholder(id) && !isUncomputed(id) ? new InvalidCell(id, NAME_ADVICE) : id;
}

const NAME_ADVICE = "; call the column company if it has names; such ids need --id-map FILE";

/** In a database, this text can be somebody's name. */
function withoutFormula(text: unknown): unknown {
  return isUncomputed(text) ? new InvalidCell(text, FORMULA_ADVICE) : text;
}

/** Decodes bytes that are text, such as MySQL's binary strings. */
function decoded(cell: unknown): unknown {
  return cell instanceof Uint8Array && isUtf8(cell) ? Buffer.from(cell).toString() : cell;
}

/** Returns a cell as text. An array of one element must not look like that element, so it is none. */
function asText(cell: unknown): string {
  return typeof cell === "object" ? "" : String(cell);
}

/** Removes the space around text, and returns undefined for null. */
function trimmed(cell: unknown): unknown {
  return typeof cell === "string" ? cell.trim() : (cell ?? undefined);
}
