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
 * How the first line of a file in another format begins, why it is an error, and how to fix it. The
 * magic number of zstd (RFC 8878, 3.1.1) is decoded as UTF-8.
 */
const otherFormats: [pattern: RegExp, reason: string, fix: string][] = [
  [/^\s*\[/, "this is a JSON array, but a dataset has one object per line", "jq -c '.[]' FILE"],
  [/^\(\ufffd\/\ufffd/, "this is zstd, not NDJSON", "zstd -dc FILE | roadbook import - --to FILE"],
  [
    /^\s*"?[a-z_][\w .-]*"?\s*[,;\t][\w .",;\t-]*$/i,
    "this looks like CSV, but a dataset has one JSON object per line",
    "put it into a folder, as users.csv for users, and import the folder",
  ],
];

/**
 * Returns an error if `text`, the first line of a file, shows that the file is not NDJSON at all.
 */
export function detectOtherFormat(text: string): ValidationError | undefined {
  const [, reason, fix] = otherFormats.find(([pattern]) => pattern.test(text)) ?? [];
  return reason && fix ? { field: "", reason, fix } : undefined;
}

/**
 * Returns the error for a line that is not JSON. The message quotes the line, unless the line may
 * belong to a private user.
 */
export function invalidJson(text: string): ValidationError {
  const line = text.trim();
  const error = { field: "", reason: "must be valid JSON" };
  if (line === "{") return { ...error, fix: "put each object on one line: jq -c . FILE" };
  return /^[[{"]/.test(line) ? error : mustBe("", "valid JSON", line);
}

/** Returns the error for a field with an invalid `value`. */
export function mustBe(field: string, expected: string, value: unknown): ValidationError {
  const kind = `must be ${expected}`;
  if (value === undefined) return { field, reason: kind };
  const reason = `${kind}, got ${formatValue(value)}`;
  // Null values are grouped separately from other values.
  return value === null ? { field, reason } : { field, reason, kind };
}

/** Like {@link mustBe}, but for an id. Undefined counts as missing. */
export function mustBeId(field: string, value: unknown): ValidationError {
  if (value === undefined) return { field, reason: "is missing" };
  const error = mustBe(field, Id.description ?? "", value);
  const isInteger = typeof value === "bigint" || Number.isInteger(value);
  return isInteger && Number(value) > Number.MAX_SAFE_INTEGER ? { ...error, fix: LARGE_ID } : error;
}

/**
 * Yields the messages for an error that TypeBox found. For a union, TypeBox reports only that no
 * branch matches, so if the value is an object, the errors from the union's object branch are
 * yielded instead. If `isPrivate` is set, only the values of `id` and `deleted` are quoted.
 */
export function* explain(error: ValueError, isPrivate: boolean): Generator<ValidationError> {
  const { path, type, schema, value } = error;
  const field = path
    .slice(1)
    .replace(/\/(\d+)(?=\/|$)/g, "[$1]")
    .replaceAll("/", ".")
    .replaceAll("~1", "/")
    .replaceAll("~0", "~");
  const expected = schema.description ?? "of the right shape";
  const hasObjectBranch = type === ValueErrorType.Union && schema.anyOf[0].type === "object";
  if (type === ValueErrorType.ObjectRequiredProperty) yield { field, reason: "is missing" };
  else if (type === ValueErrorType.ObjectAdditionalProperties) {
    yield { field, reason: "is not a known field" };
  } else if (hasObjectBranch && typeof value === "object") {
    for (const inner of error.errors[0] ?? []) yield* explain(inner, isPrivate);
  } else if (isPrivate && field !== "id" && field !== "deleted") {
    yield mustBe(field, expected, undefined);
  } else if (expected === Id.description) yield mustBeId(field, value);
  else yield mustBe(field, expected, value);
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

function formatValue(value: unknown): string {
  if (Array.isArray(value)) return `an array of ${value.length} elements`;
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value !== "string") return String(value);
  const isCut = value.length > MAX_VALUE_LENGTH;
  const length = isCut ? ` (${[...value].length} code points)` : "";
  return `"${printable(value, MAX_VALUE_LENGTH)}"${length}`;
}
