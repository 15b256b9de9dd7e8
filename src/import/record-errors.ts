/** Groups the errors in a dataset by kind, so that errors of one kind never hide another kind. */
import { ERRORS_PER_KIND } from "../domain/limits.ts";
import type { FoundError, Location, RecordError } from "../domain/record-reader.ts";

/** The number of kinds is limited because each unknown field name is a kind of its own. */
const MAX_KINDS = 100;

/** The errors of one kind. */
interface ErrorGroup {
  count: number;
  /** The first errors, and what to print about them. */
  first: { error: RecordError; message: string }[];
}

/** Counts errors and keeps the first `shown` errors of each kind. */
export class RecordErrors {
  count = 0;
  readonly #shown: number;
  /** Errors in the same field, for the same reason, are of the same kind. */
  readonly #kinds = new Map<string, ErrorGroup>();

  constructor(shown = ERRORS_PER_KIND) {
    this.#shown = shown;
  }

  add(found: FoundError, location: Location): void {
    this.count++;
    const { field, reason, kind = reason } = found;
    const key = JSON.stringify([field.replace(/\[\d+\]/g, "[]"), kind]);
    const known = this.#kinds.get(key) ?? { count: 0, first: [] };
    if (known.count === 0 && this.#kinds.size === MAX_KINDS) return;

    this.#kinds.set(key, known);
    known.count++;
    if (known.first.length >= this.#shown) return;

    const { type, id, isDuplicate = false } = found;
    const { placeHasId = false, ...where } = location;
    const error = { field, reason, type, id, ...where };
    known.first.push({ error, message: format(error, placeHasId || isDuplicate) });
  }

  /** Returns the number of errors of each kind, and the first of them. */
  groups(): { count: number; first: RecordError[] }[] {
    return this.#sorted().map(({ count, first }) => {
      return { count, first: first.map(({ error }) => error) };
    });
  }

  /** Lists the first errors of each kind, and counts the rest. */
  format(): string {
    const texts: string[] = [];
    let rest = this.count;

    for (const { count, first } of this.#sorted()) {
      texts.push(...first.map(({ message }) => message));
      rest -= count;

      const more = count - first.length;
      const all = count.toLocaleString("en");
      if (more === 0) continue;
      texts.push(`  … and ${more.toLocaleString("en")} more like this (${all} in all)`);
    }

    if (rest > 0) texts.push(`… and ${rest.toLocaleString("en")} errors of other kinds`);
    return texts.join("\n");
  }

  #sorted(): ErrorGroup[] {
    const lineOf = ({ first }: ErrorGroup) => first[0]?.error.line ?? 0;
    return [...this.#kinds.values()].sort((a, b) => lineOf(a) - lineOf(b));
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
    super(errors.format());
    this.count = errors.count;
    this.errors = errors.groups().flatMap(({ first }) => first);
  }
}

/** Names the record, unless the place or the reason does. */
function format({ line, place, field, reason, type, id }: RecordError, isNamed: boolean): string {
  const at = place ?? (line === undefined ? "" : `line ${line}`);
  const isUnknown = id === undefined || type === undefined;
  const suffix = isUnknown || isNamed ? "" : ` (${type} ${id})`;
  return [at, field, reason + suffix].filter(Boolean).join(": ");
}
