/** The messages for invalid values in a dataset, which quote the value and say what to do about it. */
import type { TSchema } from "@sinclair/typebox";
import { adviseOn } from "./advice.ts";
import type { RecordType } from "./dataset.ts";
import { toKey } from "./keys.ts";
import { ADVICE, type Advice, Id } from "./model.ts";
import { printable } from "./text.ts";

/** An error in one field, or in the whole line if `field` is empty. */
export interface ValidationError {
  field: string;
  reason: string;
  /** Errors of the same kind in the same field are grouped. Defaults to `reason`. */
  kind?: string;
}

/** Takes the place of a value that would be valid, or that needs advice of its own. */
export class InvalidCell {
  readonly value: unknown;
  /** Continues the error message, as in "; write 1 or 0". */
  readonly advice: string;

  constructor(value: unknown, advice: string) {
    this.value = value;
    this.advice = advice;
  }
}

/** In code units. */
const MAX_VALUE_LENGTH = 60;

type AdvisedSchema = Pick<TSchema, "description"> & { [ADVICE]?: Advice };

/** The error for a line that is not an object. It may be a private user's, so it is not quoted. */
export function notAnObject(text: string): ValidationError {
  const reason = "must be a valid JSON object";
  return { field: "", reason: /[[{"]/.test(text) ? reason : `${reason}, got plain text` };
}

/**
 * The error for a field with an invalid `value`, which is not quoted if it is undefined. `expected`
 * is a schema, or what completes the sentence "must be …".
 */
export function mustBe(field: string, expected: string | TSchema, value: unknown): ValidationError {
  const schema: AdvisedSchema = typeof expected === "string" ? { description: expected } : expected;
  const kind = `must be ${schema.description ?? "of the right shape"}`;
  if (value === undefined) return { field, reason: kind };
  // Null values are grouped separately from other values.
  if (value === null) return { field, reason: `${kind}, got null` };
  const advice = value instanceof InvalidCell ? value.advice : adviseOn(value, schema[ADVICE]);
  return { field, reason: `${kind}, got ${formatValue(value)}${advice}`, kind: kind + advice };
}

/** Like {@link mustBe}, but for an id. An undefined id is reported as missing. */
export function mustBeId(field: string, value: unknown): ValidationError {
  if (value === undefined) return { field, reason: "is missing" };
  return mustBe(field, Id, value instanceof Uint8Array ? toKey(value) : value);
}

/** The error for a field that refers to a record that does not exist. */
export function mustExist(field: string, type: RecordType, id: number | string): ValidationError {
  const kind = `there is no ${type}`;
  return { field, reason: `${kind} ${id}${adviseOn(id, undefined)}`, kind };
}

function formatValue(value: unknown): string {
  if (value instanceof InvalidCell) return formatValue(value.value);
  if (Array.isArray(value)) return `an array of ${value.length} elements`;
  if (value instanceof Uint8Array) return "bytes that are not text";
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value !== "string") return String(value);
  const isCut = value.length > MAX_VALUE_LENGTH;
  const length = isCut ? ` (${[...value].length} code points)` : "";
  return `"${printable(value, MAX_VALUE_LENGTH)}"${length}`;
}
