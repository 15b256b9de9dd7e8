/** The messages for invalid values in a dataset, which quote the value and say what to do about it. */
import type { TSchema } from "@sinclair/typebox";
import { type ValueError, ValueErrorType } from "@sinclair/typebox/errors";
import { Id, isRelativeAvatar, PublicUserLine } from "./model.ts";
import type { Problem, RecordType } from "./records.ts";
import { isRounded, toKey } from "./source-ids.ts";
import { isPlaceholder, isUncomputed, printable } from "./text.ts";

/** Takes the place of a value that would be valid, or whose form only tables know. */
export class InvalidCell {
  readonly value: unknown;
  /** Completes "must be …". */
  readonly expected: string | undefined;
  /** Continues the error message, as in "; divide it by 1,000". */
  readonly advice: string;

  constructor(value: unknown, expected?: string, advice = "") {
    this.value = value;
    this.expected = expected;
    this.advice = advice;
  }
}

/** In code units. */
const MAX_VALUE_LENGTH = 60;

/**
 * The error for a field with an invalid `value`, which is not quoted if it is undefined. `expected`
 * is a schema, or what completes the sentence "must be …".
 */
export function mustBe(field: string, expected: string | TSchema, value: unknown): Problem {
  const description = typeof expected === "string" ? expected : expected.description;
  const cell = value instanceof InvalidCell ? value : new InvalidCell(value);
  const rule = `must be ${cell.expected ?? description ?? "of the right shape"}`;
  if (value === undefined) return { field, reason: rule };
  // Null values are grouped separately from other values.
  if (value === null) return { field, reason: `${rule}, got null` };
  const advice = adviseOn(cell.value, field, expected) || cell.advice;
  const reason = `${rule}, got ${formatValue(cell.value)}${advice}`;
  return { field, reason, group: rule + advice };
}

/** Like {@link mustBe}, but for an id. An undefined id is reported as missing. */
export function mustBeId(field: string, value: unknown): Problem {
  if (value === undefined) return { field, reason: "is missing" };
  return mustBe(field, Id, value instanceof Uint8Array ? toKey(value) : value);
}

/** The error for a field that refers to a record that does not exist, whose id is that of the source. */
export function mustExist(field: string, type: RecordType, id: number | string): Problem {
  const group = `there is no ${type}`;
  const reason = `${group} ${id}${adviseOn(id)}`;
  return { field, reason, group, missing: { type, id } };
}

function formatValue(value: unknown): string {
  if (Array.isArray(value)) return `an array of ${value.length} elements`;
  if (value instanceof Uint8Array) return "bytes that are not text";
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value !== "string") return String(value);
  const isCut = value.length > MAX_VALUE_LENGTH;
  const length = isCut ? ` (${[...value].length} code points)` : "";
  return `"${printable(value, MAX_VALUE_LENGTH)}"${length}`;
}

const FIRST_STEAM_ID = 76561197960265728n;

/** Says what an invalid value looks like and what to do about it; empty if there is nothing to say. */
function adviseOn(value: unknown, field?: string, expected?: string | TSchema): string {
  if (isUncomputed(value)) return FORMULA_ADVICE;
  if (isPlaceholder(value)) return NO_VALUE_ADVICE;
  if (expected === Id) return adviseOnId(value);
  const isRelative = field === "avatar_url" && typeof value === "string" && isRelativeAvatar(value);
  return isRelative ? "; --avatar-base URL of import says what a relative one belongs to" : "";
}

const FORMULA_ADVICE = "; it is an error of a formula in a spreadsheet: correct the formula";
const NO_VALUE_ADVICE =
  "; it stands for no value: leave it empty (in JSON or SQL, null), or leave out the row";
const ROUNDED_ADVICE = "; it looks like a number that a spreadsheet has rounded";
const KEY_ADVICE = "; such ids need --id-map FILE";

function adviseOnId(id: unknown): string {
  if (typeof id === "number" && id > Number.MAX_SAFE_INTEGER) return ROUNDED_ADVICE;
  if (typeof id === "string" && isRounded(id.trim())) return ROUNDED_ADVICE;
  const key = toKey(id) ?? "";
  // Without a letter, it is a number with a slip, such as 1,234 or '42', or a large one.
  if (!/^\d+$/.test(key)) return /\p{L}/u.test(key) ? KEY_ADVICE : "";
  const number = BigInt(key);
  if (number <= Number.MAX_SAFE_INTEGER) return "";
  const isSteam = number >= FIRST_STEAM_ID && number < FIRST_STEAM_ID + 2n ** 32n;
  return isSteam
    ? `${KEY_ADVICE}, or subtract ${FIRST_STEAM_ID} from Steam ids in SQL`
    : KEY_ADVICE;
}

/** How many errors to report per record. A single record can cause a million. */
const MAX_ERRORS = 20;

/** Returns the first error of each field. {@link explain} says what `isPrivate` does. */
export function listErrors(found: Iterable<ValueError>, isPrivate: boolean): Problem[] {
  const errors = Iterator.from(found)
    .flatMap((error) => explain(error, isPrivate))
    // A field may have two errors.
    .take(2 * MAX_ERRORS);
  const first = new Map<string, Problem>();
  for (const error of errors) {
    const field = printable(error.field);
    if (!first.has(field)) first.set(field, { ...error, field });
  }
  return [...first.values()].slice(0, MAX_ERRORS);
}

/**
 * Yields the messages for an error that TypeBox found. For an object in a union, these are the
 * errors of the object branch. If `isPrivate` is set, only `id` and `deleted` are quoted, and the
 * names of unknown fields are left out.
 */
function* explain(error: ValueError, isPrivate: boolean): Generator<Problem> {
  const { path, type, schema, value } = error;
  const field = nameField(path);
  const parent = nameField(path.slice(0, path.lastIndexOf("/")));
  const hasObjectBranch = type === ValueErrorType.Union && schema.anyOf[0].type === "object";
  const isObject = typeof value === "object" && !(value instanceof InvalidCell);
  if (type === ValueErrorType.ObjectRequiredProperty) yield { field, reason: "is missing" };
  else if (type === ValueErrorType.ObjectAdditionalProperties) {
    // A broken line can have the name of a person where a field should be.
    const isHidden = isPrivate && !Object.hasOwn(PublicUserLine.properties, field);
    if (isHidden) yield { field: parent, reason: "has a field that is not known" };
    else yield { field, reason: "is not a known field" };
  } else if (hasObjectBranch && isObject) {
    for (const inner of error.errors[0] ?? []) yield* explain(inner, isPrivate);
  } else {
    const isQuoted = !isPrivate || field === "id" || field === "deleted";
    yield mustBe(field, schema, isQuoted ? value : undefined);
  }
}

/** Returns a JSON Pointer as it would be written in JavaScript. */
function nameField(path: string): string {
  return path
    .slice(1)
    .replace(/\/(\d+)(?=\/|$)/g, "[$1]")
    .replaceAll("/", ".")
    .replaceAll("~1", "/")
    .replaceAll("~0", "~");
}
