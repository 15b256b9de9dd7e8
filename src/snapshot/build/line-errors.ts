/** Gathers the errors in the lines of a dataset by kind, so that one kind never hides another. */
import type { RecordKey, ValidationError } from "../../domain/validation.ts";

/** The errors that are shown of each kind, unless more are asked for. */
const SHOWN = 5;
/** Names of unknown fields may make any number of kinds. */
const MAX_KINDS = 100;

/** One error, and the record that its line is about, as far as that can be read. */
export interface LineError extends ValidationError, RecordKey {
  line: number;
}

/** The errors of one kind: the same field and reason. */
interface ErrorKind {
  count: number;
  first: LineError[];
}

/** What is wrong with some lines. */
export interface LineErrors {
  count: number;
  kinds: ErrorKind[];
  /** How many lines are wrong by themselves. */
  lines: number;
  /** How many optional fields of users were left out. */
  fields: number;
  /** How many references lead nowhere. */
  references: number;
}

/** The lines break the rules of a dataset; `message` has a line for each of the first errors. */
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

export function createLineErrors(shown = SHOWN) {
  const byKind = new Map<string, ErrorKind>();
  const errors: LineErrors = { count: 0, kinds: [], lines: 0, fields: 0, references: 0 };
  return {
    errors,
    add(error: LineError): void {
      errors.count++;
      const { field, reason, kind = reason } = error;
      const key = JSON.stringify([field.replace(/\[\d+\]/g, "[]"), kind]);
      let found = byKind.get(key);
      if (!found) {
        if (byKind.size === MAX_KINDS) return;
        found = { count: 0, first: [] };
        byKind.set(key, found);
        errors.kinds.push(found);
      }
      found.count++;
      if (found.first.length < shown) found.first.push(error);
    },
  };
}

/** A line of text for each of the first errors of a kind, and one that counts the others. */
export function formatErrors({ kinds, count }: LineErrors): string {
  const texts: string[] = [];
  let counted = 0;
  for (const kind of sorted(kinds)) {
    texts.push(...kind.first.map(format));
    counted += kind.count;
    const more = kind.count - kind.first.length;
    if (more > 0)
      texts.push(`  … and ${number(more)} more like this, ${number(kind.count)} in all`);
    const fix = kind.first[0]?.fix;
    if (fix !== undefined) texts.push(`  fix: ${fix}`);
  }
  if (count > counted) texts.push(`… and ${number(count - counted)} errors of other kinds`);
  return texts.join("\n");
}

/** The end line comes first: if it is wrong, the other errors may follow from that. */
function sorted(kinds: ErrorKind[]): ErrorKind[] {
  const placeOf = ({ first: [error] }: ErrorKind) =>
    error?.type === "end" ? 0 : (error?.line ?? 0);
  return kinds
    .map(({ count, first }) => ({ count, first: first.toSorted((a, b) => a.line - b.line) }))
    .sort((a, b) => placeOf(a) - placeOf(b));
}

function format({ line, field, reason, type, id }: LineError): string {
  const about = `${type} ${id}`;
  const isNamed = id === undefined || type === undefined || reason.includes(about);
  return `line ${line}: ${field === "" ? "" : `${field}: `}${reason}${isNamed ? "" : ` (${about})`}`;
}

function number(count: number): string {
  return count.toLocaleString("en");
}
