/** Groups the errors in a dataset by kind, so that errors of one kind never hide another kind. */
import { ERRORS_PER_KIND } from "../../domain/limits.ts";
import type { LocatedError, RecordError } from "../../domain/record-reader.ts";
import { DUPLICATE_ID } from "../../domain/validation-errors.ts";

/** The number of kinds is limited because each unknown field name is a kind of its own. */
const MAX_KINDS = 100;

/** Counts errors and keeps the first `shown` errors of each kind. */
export class RecordErrors {
  count = 0;
  /** Errors in the same field, for the same reason, are of the same kind. */
  readonly kinds = new Map<string, { count: number; first: LocatedError[] }>();
  readonly #shown: number;

  constructor(shown = ERRORS_PER_KIND) {
    this.#shown = shown;
  }

  add(error: LocatedError): void {
    this.count++;
    const { field, reason, kind = reason } = error;
    const key = JSON.stringify([field.replace(/\[\d+\]/g, "[]"), kind]);
    const found = this.kinds.get(key) ?? { count: 0, first: [] };
    if (found.count === 0 && this.kinds.size === MAX_KINDS) return;

    this.kinds.set(key, found);
    found.count++;
    if (found.first.length < this.#shown) found.first.push(error);
  }
}

/** The errors of which the records, or the invalid parts of them, were skipped. */
export class SkippedErrors extends RecordErrors {
  /** How many users became private because a record about them is invalid. */
  hidden = 0;
  /** How many users were left out because nobody can read who they are. */
  leftOut = 0;
}

/** Thrown when a dataset is invalid. `message` lists the first errors of each kind. */
export class DatasetError extends Error {
  override name = "DatasetError";
  readonly count: number;
  readonly errors: RecordError[];

  constructor(errors: RecordErrors) {
    super(formatErrors(errors));
    this.count = errors.count;
    const first = sorted(errors).flatMap((group) => group.first);
    this.errors = first.map(({ placeHasId, ...error }) => error);
  }
}

/** Returns the first errors of each kind without what is only for formatting. */
export function groupErrors(errors: RecordErrors) {
  const shown = ({ kind, missing, placeHasId, ...error }: LocatedError) => error;
  return sorted(errors).map(({ count, first }) => ({ count, first: first.map(shown) }));
}

/** Lists the first errors of each kind, and counts the rest. */
export function formatErrors(errors: RecordErrors): string {
  const texts: string[] = [];
  let rest = errors.count;

  for (const { count, first } of sorted(errors)) {
    texts.push(...first.map(format));
    rest -= count;

    const more = count - first.length;
    const all = count.toLocaleString("en");
    if (more > 0) texts.push(`  … and ${more.toLocaleString("en")} more like this (${all} in all)`);
  }

  if (rest > 0) texts.push(`… and ${rest.toLocaleString("en")} errors of other kinds`);
  return texts.join("\n");
}

function sorted({ kinds }: RecordErrors) {
  return [...kinds.values()].sort((a, b) => (a.first[0]?.line ?? 0) - (b.first[0]?.line ?? 0));
}

function format(error: LocatedError): string {
  const { line, place, field, reason, kind, type, id, placeHasId } = error;
  const at = place ?? (line === undefined ? "" : `line ${line}`);
  const isUnknown = id === undefined || type === undefined;
  // The reason for a duplicate id has the id.
  const isNamed = placeHasId || kind === DUPLICATE_ID;
  const suffix = isUnknown || isNamed ? "" : ` (${type} ${id})`;
  return [at, field, reason + suffix].filter(Boolean).join(": ");
}
