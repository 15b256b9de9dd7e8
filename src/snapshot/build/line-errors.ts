/** Collects the errors in the lines of a dataset by kind, so that one kind never hides another. */
import type { RecordKey, ValidationError } from "../../domain/validation.ts";

/** How many errors of each kind are shown by default. */
const DEFAULT_SHOWN = 5;
/** Unknown field names could make any number of kinds. */
const MAX_KINDS = 100;

/** An error, and the record that its line is about, if that can be read. */
export interface LineError extends ValidationError, RecordKey {
  line: number;
}

/** An error that shows only after the last line. */
export interface FinalError extends LineError {
  /** The record that does not exist, if the error is a reference to it. */
  missing?: RecordKey;
}

/** The errors of one kind: the same field and reason. */
interface ErrorKind {
  count: number;
  first: LineError[];
}

/** The errors in a dataset. */
export interface LineErrors {
  count: number;
  kinds: ErrorKind[];
  /** How many lines are invalid in themselves. */
  lines: number;
  /** How many optional fields of users were skipped. */
  fields: number;
  /** How many references lead to records that do not exist. */
  references: number;
}

/** The dataset is invalid. `message` has a line for each of the first errors. */
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

/** Counts errors, and keeps the first `shown` of each kind. */
export class LineErrorCollector {
  readonly summary: LineErrors = { count: 0, kinds: [], lines: 0, fields: 0, references: 0 };
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

/** One line for each of the first errors of a kind, then a line that counts the others. */
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

/** By line number, but with the end line first: a wrong end line may explain the other errors. */
function sorted(kinds: ErrorKind[]): ErrorKind[] {
  const lineOf = ({ first: [error] }: ErrorKind) =>
    error?.type === "end" ? 0 : (error?.line ?? 0);
  return kinds
    .map(({ count, first }) => ({ count, first: first.toSorted((a, b) => a.line - b.line) }))
    .sort((a, b) => lineOf(a) - lineOf(b));
}

function format({ line, field, reason, type, id }: LineError): string {
  const record = `${type} ${id}`;
  const isNamed = reason.includes(record) || reason.includes(`${type} id ${id}`);
  const suffix = id === undefined || type === undefined || isNamed ? "" : ` (${record})`;
  return `line ${line}: ${field === "" ? "" : `${field}: `}${reason}${suffix}`;
}

function number(count: number): string {
  return count.toLocaleString("en");
}
