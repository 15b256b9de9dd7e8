/**
 * Puts the errors in a line of a dataset into words: each with the wrong value, with a text that all errors
 * of its kind share, and with the fix for common mistakes. Never decides whether a line is wrong.
 */
import { type ValueError, ValueErrorType } from "@sinclair/typebox/errors";
import { listMembers, scalarAt } from "./json-members.ts";
import { Id, Timestamp } from "./schema.ts";
import { findMissingDay } from "./time.ts";

/** An error in one field; `field` is empty when the line as a whole is wrong. */
export interface ValidationError {
  field: string;
  reason: string;
  /** The text that all errors of a kind share. Default the reason. */
  kind?: string;
  /** How errors of that kind are corrected. */
  fix?: string;
}

const recordTypes: unknown[] = ["role", "achievement", "company", "user", "end"];

/** The record that a line is about, as far as the line can be read. */
export interface RecordKey {
  type?: string | undefined;
  id?: number | undefined;
}

const MAX_FIELD_LENGTH = 80;
const MAX_VALUE_LENGTH = 60;

const LARGE_ID =
  "larger ids must be mapped to smaller ones; for Steam, subtract 76561197960265728 from each id";

/** The type and the id at the beginning of a line, which may have errors. */
export function findRecord(text: string): RecordKey {
  const found: RecordKey = {};
  for (const { name, depth, valueAt } of listMembers(text)) {
    if (depth !== 1 || (name !== "type" && name !== "id")) continue;
    const value = scalarAt(text, valueAt);
    if (name === "type" && recordTypes.includes(value)) found.type ??= String(value);
    const isId = name === "id" && /^[1-9]\d{0,15}$/.test(String(value));
    if (isId && Number.isSafeInteger(Number(value))) found.id ??= Number(value);
  }
  return found;
}

/**
 * The mistake that was made if `text` is the first line of something that is no dataset at all;
 * undefined if it is just a line with errors.
 */
export function findMistake(text: string): ValidationError | undefined {
  const because = (reason: string, fix: string) => ({ field: "", reason, fix });
  if (text.startsWith("SQLite format 3\0")) {
    const fix = "if it is a snapshot, roadbook export FILE writes its dataset";
    return because("this is a SQLite file, not a dataset", fix);
  }
  if (text.slice(0, 4).includes("\0")) {
    return because("this is UTF-16, not UTF-8", "iconv -f UTF-16 -t UTF-8 FILE");
  }
  if (/^\s*\[/.test(text)) {
    const fix = "jq -c '.[]' FILE";
    return because("this is a JSON array, but a dataset has one object per line", fix);
  }
  if (/^\s*("?)[a-z_][\w .-]*\1(\s*[,;\t]\s*("?)[a-z_][\w .-]*\3)+\s*$/i.test(text)) {
    const fix = "convert it to one JSON object per line; roadbook schema describes the objects";
    return because("this looks like CSV, but a dataset has one JSON object per line", fix);
  }
  return undefined;
}

/** The error in a line that is no JSON. The text is repeated unless it may be a private user's record. */
export function describeText(text: string): ValidationError {
  const start = text.trimStart();
  if (/^[[{"]/.test(start)) {
    const reason = "is not valid JSON";
    if (start.trimEnd() !== "{") return { field: "", reason };
    return { field: "", reason, fix: "put each object on one line: jq -c . FILE" };
  }
  return wrongValue("", "is not valid JSON", start.trimEnd());
}

/** The error in a field that has `value` and must be something else. */
export function mustBe(field: string, wanted: string, value: unknown): ValidationError {
  if (value === undefined) return { field, reason: `must be ${wanted}` };
  if (value === null) return { field, reason: `is null, must be ${wanted}` };
  return wrongValue(field, `must be ${wanted}`, value);
}

/**
 * An error of TypeBox in `text`. A union names no field of its branches, so the branch that is an object
 * speaks for it. With `isPrivate`, no value but an id is repeated.
 */
export function* describe(
  error: ValueError,
  text: string,
  isPrivate: boolean,
): Generator<ValidationError> {
  const { path, type, schema, value } = error;
  const field = path
    .slice(1)
    .replace(/\/(\d+)(?=\/|$)/g, "[$1]")
    .replaceAll("/", ".")
    .replaceAll("~1", "/")
    .replaceAll("~0", "~");
  const wanted = schema.description ?? "of the right shape";
  const missingDay = wanted === Timestamp.description ? findMissingDay(String(value)) : "";
  if (type === ValueErrorType.ObjectRequiredProperty) yield { field, reason: "is missing" };
  else if (type === ValueErrorType.ObjectAdditionalProperties) {
    yield { field, reason: "is not a known field" };
  } else if (
    type === ValueErrorType.Union &&
    schema.anyOf[0].type === "object" &&
    typeof value === "object"
  ) {
    for (const inner of error.errors[0] ?? []) yield* describe(inner, text, isPrivate);
  } else if (isPrivate && field !== "id" && field !== "deleted")
    yield { field, reason: `must be ${wanted}` };
  else if (missingDay !== "") {
    yield wrongValue(field, "must be a day that exists", value, missingDay);
  } else if (schema.description === Id.description && isLarge(value)) {
    yield {
      ...wrongValue(field, `must be ${wanted}`, literalOf(text, field, value)),
      fix: LARGE_ID,
    };
  } else yield mustBe(field, wanted, value);
}

/** Names of fields and values may be any text: long ones are cut, and control characters escaped. */
export function printable(text: string, maxLength = MAX_FIELD_LENGTH): string {
  const short = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  return short
    .toWellFormed()
    .replace(
      /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
      (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
    );
}

function wrongValue(field: string, kind: string, value: unknown, note = ""): ValidationError {
  return { field, kind, reason: `${kind}${note}, got ${formatValue(value)}` };
}

function formatValue(value: unknown): string {
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value !== "string") return String(value);
  const isCut = value.length > MAX_VALUE_LENGTH;
  const length = isCut ? ` (${[...value].length} code points)` : "";
  return `"${printable(value, MAX_VALUE_LENGTH)}"${length}`;
}

function isLarge(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) > Number.MAX_SAFE_INTEGER;
}

/** The number as the line has it: above 2^53, JSON.parse rounds it. */
function literalOf(text: string, field: string, value: unknown): unknown {
  for (const { path, valueAt } of listMembers(text)) {
    const [digits] = (path === field && /^\d{1,100}(?!\d)/.exec(text.slice(valueAt))) || [];
    if (digits) return BigInt(digits);
  }
  return value;
}
