/**
 * Converts the cells of databases and CSV files into the values of dataset lines. A value that
 * cannot be converted is returned unchanged, so that validation rejects and quotes it.
 */
import type { RawRecord } from "../domain/dataset.ts";
import { languages } from "../domain/languages.ts";
import { isUncomputed, UncomputedCell } from "../domain/uncomputed-cell.ts";
import type { IdFormat } from "./cell-ids.ts";
import { toInteger } from "./cell-integers.ts";
import { asText, decoded, trimmed } from "./cell-text.ts";
import { toTime } from "./cell-times.ts";
import type { DateOrder } from "./date-order.ts";

/** How the cells of one source differ from those of others. */
export interface CellFormat {
  /** Whether a boolean can be a byte. Only MySQL sends a bit as one. */
  readonly hasBits?: boolean;
  /** Whether people have written the cells in a spreadsheet, which shows errors as text. */
  readonly isSpreadsheet?: boolean;
  /** The order of day and month in a column, if it has dates such as 5/31/2021. */
  orderOf?(column: string): DateOrder | undefined;
}

/** Returns what converts the cells of a row. */
export function createCellConverter(
  ids: IdFormat,
  format: CellFormat,
): (row: RawRecord) => RawRecord {
  const { hasBits, isSpreadsheet } = format;
  const converters: Partial<Record<string, (cell: unknown) => unknown>> = {
    // No cell, but where the row begins.
    line: () => undefined,
    id: ids.read,
    user_id: ids.read,
    role_id: ids.read,
    achievement_id: ids.read,
    company_id: (cell) => (ids.isNone(cell) ? undefined : ids.read(cell)),
    company_role: toOptionalText,
    public: (cell) => (cell instanceof Uint8Array && !hasBits ? cell : toPublic(cell)),
    name: (cell) => (isSpreadsheet ? withoutFormula(toText(cell)) : toText(cell)),
    avatar_url: toOptionalText,
    created_at: (cell) => toTime(cell, format.orderOf?.("created_at")),
    unlocked_at: (cell) => toTime(cell, format.orderOf?.("unlocked_at")),
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

/** Whether text is a word that exporters write where there is no value. */
export function isNoValue(text: string): boolean {
  return NO_VALUE.test(text.trim());
}

const NO_VALUE = /^(?:NULL|\\N|NA|<NA>|NaN|None)$/;

// Databases and people write these words, and spreadsheets in the languages of the page.
const TRUE = ["1", ...Object.values(languages).flatMap(({ booleans }) => booleans.true)];
const FALSE = ["0", ...Object.values(languages).flatMap(({ booleans }) => booleans.false)];

export function toPublic(cell: unknown): unknown {
  // MySQL's literal b'1' arrives as the byte 1, and its BIT(1) as a boolean.
  const value = cell instanceof Uint8Array && cell.length === 1 ? cell[0] : trimmed(cell);
  const text = asText(value).toLowerCase();
  if (TRUE.includes(text)) return true;
  return FALSE.includes(text) ? false : value;
}

/** Returns undefined for null. */
function toText(cell: unknown): unknown {
  if (typeof cell === "number" || typeof cell === "bigint") return String(cell);
  return decoded(cell) ?? undefined;
}

/** Like {@link toText}, but trims text, and returns undefined if it is empty. */
function toOptionalText(cell: unknown): unknown {
  return trimmed(toText(cell)) || undefined;
}

/** In a database, this text can be somebody's name. */
function withoutFormula(text: unknown): unknown {
  return isUncomputed(text) ? new UncomputedCell(String(text)) : text;
}
