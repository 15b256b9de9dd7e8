/**
 * The messages for errors in a line of a dataset, with the invalid value, and with a fix for common
 * mistakes. Never decides whether a line is valid.
 */
import { type ValueError, ValueErrorType } from "@sinclair/typebox/errors";
import { listMembers, scalarAt } from "./json-members.ts";
import { Id, Timestamp } from "./schema.ts";
import { explainMissingDay } from "./time.ts";

/** An error in one field, or in the whole line if `field` is empty. */
export interface ValidationError {
  field: string;
  reason: string;
  /** Errors in the same field and of the same kind are grouped. Default the reason. */
  kind?: string;
  /** How to correct errors of this kind. */
  fix?: string;
}

const recordTypes: unknown[] = ["role", "achievement", "company", "user", "end"];

/** The type and id of a line's record, as far as the line can be read. */
export interface RecordKey {
  type?: string | undefined;
  id?: number | undefined;
}

const MAX_FIELD_LENGTH = 80;
const MAX_VALUE_LENGTH = 60;

const LARGE_ID =
  "map larger ids to smaller ones; for Steam ids, subtract 76561197960265728 from each";

/** Finds the type and id in a line that may be invalid, or in the beginning of one. */
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

/** The error if the first line shows that the file is not NDJSON at all; undefined otherwise. */
export function detectOtherFormat(text: string): ValidationError | undefined {
  const errorOf = (reason: string, fix: string) => ({ field: "", reason, fix });
  if (text.startsWith("SQLite format 3\0")) {
    const fix = "if it is a snapshot, roadbook export FILE prints its dataset";
    return errorOf("this is a SQLite file, not a dataset", fix);
  }
  if (text.slice(0, 4).includes("\0")) {
    return errorOf("this is UTF-16, not UTF-8", "iconv -f UTF-16 -t UTF-8 FILE");
  }
  if (/^\s*\[/.test(text)) {
    const fix = "jq -c '.[]' FILE";
    return errorOf("this is a JSON array, but a dataset has one object per line", fix);
  }
  if (/^\s*("?)[a-z_][\w .-]*\1(\s*[,;\t]\s*("?)[a-z_][\w .-]*\3)+\s*$/i.test(text)) {
    const fix = "convert it to one JSON object per line; roadbook schema describes the objects";
    return errorOf("this looks like CSV, but a dataset has one JSON object per line", fix);
  }
  return undefined;
}

/** The error in a line that is not JSON. Quotes the line unless it may be a private user's. */
export function invalidJson(text: string): ValidationError {
  const start = text.trimStart();
  if (/^[[{"]/.test(start)) {
    const reason = "is not valid JSON";
    if (start.trimEnd() !== "{") return { field: "", reason };
    return { field: "", reason, fix: "put each object on one line: jq -c . FILE" };
  }
  return invalidValue("", "is not valid JSON", start.trimEnd());
}

/** The error in a field with an invalid `value`. */
export function mustBe(field: string, expected: string, value: unknown): ValidationError {
  if (value === undefined) return { field, reason: `must be ${expected}` };
  // Without a kind: nulls are grouped separately from other values.
  if (value === null) return { field, reason: `must be ${expected}, got null` };
  return invalidValue(field, `must be ${expected}`, value);
}

/**
 * The messages for an error that TypeBox found in the line `text`. TypeBox reports a union as a
 * whole, so for an object the errors of the union's object branch are taken instead. With
 * `isPrivate`, no value other than an id is quoted.
 */
export function* explain(
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
  const expected = schema.description ?? "of the right shape";
  const missingDay = expected === Timestamp.description ? explainMissingDay(String(value)) : "";
  if (type === ValueErrorType.ObjectRequiredProperty) yield { field, reason: "is missing" };
  else if (type === ValueErrorType.ObjectAdditionalProperties) {
    yield { field, reason: "is not a known field" };
  } else if (
    type === ValueErrorType.Union &&
    schema.anyOf[0].type === "object" &&
    typeof value === "object"
  ) {
    for (const inner of error.errors[0] ?? []) yield* explain(inner, text, isPrivate);
  } else if (isPrivate && field !== "id" && field !== "deleted")
    yield { field, reason: `must be ${expected}` };
  else if (missingDay !== "") {
    yield invalidValue(field, "must be a real date", value, missingDay);
  } else if (schema.description === Id.description && isLarge(value)) {
    yield {
      ...invalidValue(field, `must be ${expected}`, literalOf(text, field, value)),
      fix: LARGE_ID,
    };
  } else yield mustBe(field, expected, value);
}

/** Makes any text safe to print: long texts are cut, and control characters are escaped. */
export function printable(text: string, maxLength = MAX_FIELD_LENGTH): string {
  const short = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  return short
    .toWellFormed()
    .replace(
      /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
      (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
    );
}

function invalidValue(field: string, kind: string, value: unknown, note = ""): ValidationError {
  return { field, kind, reason: `${kind}${note}, got ${formatValue(value)}` };
}

function formatValue(value: unknown): string {
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return `an array of ${value.length} elements`;
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value !== "string") return String(value);
  const isCut = value.length > MAX_VALUE_LENGTH;
  const length = isCut ? ` (${[...value].length} code points)` : "";
  return `"${printable(value, MAX_VALUE_LENGTH)}"${length}`;
}

function isLarge(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) > Number.MAX_SAFE_INTEGER;
}

/** The number as it is written in the line. Above 2^53, JSON.parse rounds it. */
function literalOf(text: string, field: string, value: unknown): unknown {
  for (const { path, valueAt } of listMembers(text)) {
    const [digits] = (path === field && /^\d{1,100}(?!\d)/.exec(text.slice(valueAt))) || [];
    if (digits) return BigInt(digits);
  }
  return value;
}
