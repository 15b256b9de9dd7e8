/** Groups the errors in a dataset by kind, so that errors of one kind never hide another kind. */
import type { RecordKey } from "../../domain/dataset.ts";
import type { ValidationError } from "../../domain/validation.ts";

/** How many errors of each kind are shown by default. */
const DEFAULT_SHOWN = 5;
/** The number of kinds is limited because each unknown field name is a kind of its own. */
const MAX_KINDS = 100;

/** The type and id of the record in a line. An end line has no id. */
export interface LineRecord {
  type: RecordKey["type"] | "end" | undefined;
  id: number | undefined;
}

/** An error in a line, with the type and id of the line's record if they can be read. */
export interface LineError extends ValidationError, Partial<LineRecord> {
  /** Missing if the error is not in a single line of NDJSON. */
  line?: number;
  /** The row of a table: `users.csv, line 12`, or `users.sql, id 42`. */
  place?: string;
}

/** An error that can be detected only after the last line. */
export interface FinalError extends LineError {
  /** For a reference to a record that does not exist, the type and id of that record. */
  missing?: LineRecord;
}

/** Errors of the same kind: in the same field, for the same reason. */
interface ErrorKind {
  count: number;
  first: LineError[];
}

/** A summary of all errors in a dataset. */
export interface LineErrors {
  count: number;
  kinds: ErrorKind[];
  /** How many lines are invalid for a reason other than a reference to a missing record. */
  lines: number;
  /** How many optional user fields were skipped. */
  fields: number;
  /** How many references point to records that do not exist. */
  references: number;
  /** How many users became private because a line about them is invalid. */
  hidden: number;
}

/** Thrown when a dataset is invalid. `message` lists the first errors of each kind. */
export class DatasetError extends Error {
  override name = "DatasetError";
  readonly count: number;
  /** The first errors of each kind. */
  readonly errors: LineError[];

  constructor(errors: LineErrors) {
    super(formatErrors(errors));
    this.count = errors.count;
    this.errors = sorted(errors.kinds).flatMap(({ first }) => first);
  }
}

/** Counts errors and keeps the first `shown` errors of each kind. */
export class LineErrorCollector {
  readonly summary: LineErrors = {
    count: 0,
    kinds: [],
    lines: 0,
    fields: 0,
    references: 0,
    hidden: 0,
  };
  private readonly byKind = new Map<string, ErrorKind>();
  private readonly shown: number;

  constructor(shown = DEFAULT_SHOWN) {
    this.shown = shown;
  }

  add(error: LineError): void {
    this.summary.count++;
    const { field, reason, kind = reason } = error;
    const key = JSON.stringify([field.replace(/\[\d+\]/g, "[]"), kind]);
    let found = this.byKind.get(key);
    if (!found) {
      if (this.byKind.size === MAX_KINDS) return;
      found = { count: 0, first: [] };
      this.byKind.set(key, found);
      this.summary.kinds.push(found);
    }
    found.count++;
    if (found.first.length < this.shown) found.first.push(error);
  }
}

/**
 * Formats the errors of each kind: one line for each of the first errors, then a line that counts
 * the remaining errors.
 */
export function formatErrors({ kinds, count }: LineErrors): string {
  const texts: string[] = [];
  let counted = 0;
  for (const kind of sorted(kinds)) {
    texts.push(...kind.first.map(format));
    counted += kind.count;
    const more = kind.count - kind.first.length;
    if (more > 0)
      texts.push(`  … and ${number(more)} more like this (${number(kind.count)} in all)`);
    const fix = kind.first[0]?.fix;
    if (fix !== undefined) texts.push(`  fix: ${fix}`);
  }
  if (count > counted) texts.push(`… and ${number(count - counted)} errors of other kinds`);
  return texts.join("\n");
}

/**
 * Sorts the kinds by line number, but puts errors in the end line first, because a wrong end line
 * may explain the other errors.
 */
function sorted(kinds: ErrorKind[]): ErrorKind[] {
  const lineOf = ({ first: [error] }: ErrorKind) =>
    error?.type === "end" ? 0 : (error?.line ?? 0);
  return kinds
    .map(({ count, first }) => ({
      count,
      first: first.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)),
    }))
    .sort((a, b) => lineOf(a) - lineOf(b));
}

function format({ line, place, field, reason, type, id }: LineError): string {
  const record = `${type} ${id}`;
  const isNamed =
    reason.includes(record) || reason.includes(`${type} id ${id}`) || /id \d+$/.test(place ?? "");
  const suffix = id === undefined || type === undefined || isNamed ? "" : ` (${record})`;
  const start = place ?? (line === undefined ? "" : `line ${line}`);
  return `${start}${start === "" ? "" : ": "}${field === "" ? "" : `${field}: `}${reason}${suffix}`;
}

function number(count: number): string {
  return count.toLocaleString("en");
}
