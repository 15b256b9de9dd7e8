/**
 * Builds the error messages for invalid lines of a dataset. A message quotes the invalid value and
 * suggests a fix for a common mistake. Never decides whether a line is valid.
 */
import { type ValueError, ValueErrorType } from "@sinclair/typebox/errors";
import { Id } from "./model.ts";

/** An error in one field, or in the line as a whole if `field` is empty. */
export interface ValidationError {
  field: string;
  reason: string;
  /** Errors of the same kind in the same field are grouped. Defaults to `reason`. */
  kind?: string;
  fix?: string;
}

const MAX_FIELD_LENGTH = 80;
const MAX_VALUE_LENGTH = 60;

const LARGE_ID =
  "map larger ids to smaller ones; for Steam ids, subtract 76561197960265728 from each";

/**
 * Returns an error if `text`, the first line of a file, shows that the file is not NDJSON at all.
 */
export function detectOtherFormat(text: string): ValidationError | undefined {
  const errorOf = (reason: string, fix: string) => ({ field: "", reason, fix });
  if (text.startsWith("SQLite format 3\0")) {
    const fix = "if it is a snapshot, roadbook export FILE prints its dataset";
    return errorOf("this is a SQLite file, not a dataset", fix);
  }
  // The magic number of zstd (RFC 8878, 3.1.1), decoded as UTF-8.
  if (text.startsWith("(\ufffd/\ufffd")) {
    return errorOf("this is zstd, not NDJSON", "zstd -dc FILE | roadbook import - --to FILE");
  }
  if (text.slice(0, 4).includes("\0")) {
    return errorOf("this is UTF-16, not UTF-8", "iconv -f UTF-16 -t UTF-8 FILE");
  }
  if (/^\s*\[/.test(text)) {
    const fix = "jq -c '.[]' FILE";
    return errorOf("this is a JSON array, but a dataset has one object per line", fix);
  }
  if (/^\s*("?)[a-z_][\w .-]*\1(\s*[,;\t]\s*("?)[a-z_][\w .-]*\3)+\s*$/i.test(text)) {
    const fix = "put it into a folder, as users.csv for users, and import the folder";
    return errorOf("this looks like CSV, but a dataset has one JSON object per line", fix);
  }
  return undefined;
}

/**
 * Returns the error for a line that is not JSON. The message quotes the line, unless the line may
 * belong to a private user.
 */
export function invalidJson(text: string): ValidationError {
  const start = text.trimStart();
  if (/^[[{"]/.test(start)) {
    const reason = "must be valid JSON";
    if (start.trimEnd() !== "{") return { field: "", reason };
    return { field: "", reason, fix: "put each object on one line: jq -c . FILE" };
  }
  return invalidValue("", "must be valid JSON", start.trimEnd());
}

/** Returns the error for a field with an invalid `value`. */
export function mustBe(field: string, expected: string, value: unknown): ValidationError {
  if (value === undefined) return { field, reason: `must be ${expected}` };
  // Omits `kind`, so that null values are grouped separately from other values.
  if (value === null) return { field, reason: `must be ${expected}, got null` };
  return invalidValue(field, `must be ${expected}`, value);
}

/** Like {@link mustBe}, but for an id. Undefined counts as missing. */
export function mustBeId(field: string, value: unknown): ValidationError {
  if (value === undefined) return { field, reason: "is missing" };
  const error = mustBe(field, Id.description ?? "", value);
  return isLarge(value) ? { ...error, fix: LARGE_ID } : error;
}

/**
 * Yields the messages for an error that TypeBox found in the line `text`. For a union, TypeBox
 * reports only that no branch matches, so if the value is an object, the errors from the union's
 * object branch are yielded instead. If `isPrivate` is set, only the values of `id` and `deleted`
 * are quoted.
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
  else if (schema.description === Id.description) {
    yield mustBeId(field, isLarge(value) ? literalOf(text, value) : value);
  } else yield mustBe(field, expected, value);
}

/** Makes text safe to print: truncates long text and escapes control characters. */
export function printable(text: string, maxLength = MAX_FIELD_LENGTH): string {
  const short = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  return short
    .toWellFormed()
    .replace(
      /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
      (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
    );
}

function invalidValue(field: string, kind: string, value: unknown): ValidationError {
  return { field, kind, reason: `${kind}, got ${formatValue(value)}` };
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
  const isInteger = typeof value === "bigint" || Number.isInteger(value);
  return isInteger && Number(value) > Number.MAX_SAFE_INTEGER;
}

/**
 * Returns the digits of a large number as written in the line, because JSON.parse rounds numbers
 * above 2^53.
 */
function literalOf(text: string, value: unknown): unknown {
  if (typeof value === "bigint") return value;
  let found = value;
  JSON.parse(text, (_, parsed, context?: { source?: string }) => {
    const { source = "" } = context ?? {};
    if (parsed === value && /^\d{1,100}$/.test(source)) found = BigInt(source);
    return parsed;
  });
  return found;
}
