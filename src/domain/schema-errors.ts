/** Turns the errors that TypeBox finds in a record into messages. */
import { type ValueError, ValueErrorType } from "@sinclair/typebox/errors";
import { PublicUserLine } from "./model.ts";
import { printable } from "./text.ts";
import { mustBe, type ValidationError } from "./validation-errors.ts";

/** How many errors to report per record. A single record can cause a million. */
const MAX_ERRORS = 20;

/** Returns the first error of each field. {@link explain} says what `isPrivate` does. */
export function listErrors(found: Iterable<ValueError>, isPrivate: boolean): ValidationError[] {
  const errors = Iterator.from(found)
    .flatMap((error) => explain(error, isPrivate))
    // A field may have two errors.
    .take(2 * MAX_ERRORS);
  const first = new Map<string, ValidationError>();
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
function* explain(error: ValueError, isPrivate: boolean): Generator<ValidationError> {
  const { path, type, schema, value } = error;
  const field = nameField(path);
  const parent = nameField(path.slice(0, path.lastIndexOf("/")));
  const hasObjectBranch = type === ValueErrorType.Union && schema.anyOf[0].type === "object";
  if (type === ValueErrorType.ObjectRequiredProperty) yield { field, reason: "is missing" };
  else if (type === ValueErrorType.ObjectAdditionalProperties) {
    // A broken line can have the name of a person where a field should be.
    const isHidden = isPrivate && !Object.hasOwn(PublicUserLine.properties, field);
    if (isHidden) yield { field: parent, reason: "has a field that is not known" };
    else yield { field, reason: "is not a known field" };
  } else if (hasObjectBranch && typeof value === "object") {
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
