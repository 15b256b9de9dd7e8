/**
 * The errors in a dataset. A check finds one in a record, the reader says where that is in the source, and
 * then it is counted here. Errors are grouped, so that frequent ones never hide others.
 */
import type {
  FaultyRecord,
  Problem,
  ProblemItem,
  RecordError,
  RecordReader,
} from "../domain/records.ts";
import { groupDigits } from "../domain/text.ts";
import type { Ids } from "./ids.ts";

export const ERRORS_PER_GROUP = 5;

export interface ErrorOptions {
  /** Whether to skip anything invalid in the dataset; see skip-invalid.ts. */
  skipInvalid?: boolean | undefined;
  /** How many errors of each kind to report. Defaults to {@link ERRORS_PER_GROUP}. */
  maxErrors?: number | undefined;
}

/** Collects the errors in a dataset: final ones and, with `skipInvalid`, those of which the records are skipped. */
export function collectErrors(
  reader: RecordReader,
  ids: Ids,
  { maxErrors, skipInvalid }: ErrorOptions,
) {
  const final = new RecordErrors(maxErrors);
  const skipped = skipInvalid ? new RecordErrors(maxErrors) : final;
  /** Records that are invalid themselves. References to them are not reported as errors. */
  const invalid = new Set<string>();

  /** Adds an error in a record. It is final unless there is a consequence, which ends the message. */
  function report(
    found: Problem,
    { type, id, line }: FaultyRecord = {},
    consequence?: string,
  ): void {
    const { field, missing } = found;
    if (missing && invalid.has(`${missing.type} ${missing.id}`)) return;

    const sourceId = type && typeof id === "number" ? ids.inSource({ type, id }) : id;
    const errors = consequence === undefined ? final : skipped;
    if (errors === final && type !== "user") invalid.add(`${type} ${sourceId}`);

    const reason = found.reason + (consequence ?? "");
    const { error, isNamed } = reader.locate({ field, reason, type, id: sourceId, line });
    const name = type && sourceId !== undefined ? ` (${type} ${sourceId})` : "";
    errors.add(found, error, isNamed || found.isNamed ? "" : name);
  }

  /** Adds an error in what is no record. */
  function addProblem({ problem, leavesOut, line, place }: ProblemItem): void {
    const { field, reason } = problem;
    const errors = leavesOut ? skipped : final;
    errors.add(problem, { field, reason, line, place });
  }

  return { final, skipped, report, addProblem };
}

/** The number of groups is limited because each unknown field name is a group of its own. */
const MAX_GROUPS = 100;

/** The errors in the same field, for the same reason. */
interface ErrorGroup {
  count: number;
  first: RecordError[];
  /** The texts to print about the first errors. */
  messages: string[];
}

/** Counts errors and keeps the first `shown` errors of each group. */
export class RecordErrors {
  count = 0;
  readonly #shown: number;
  readonly #groups = new Map<string, ErrorGroup>();

  constructor(shown = ERRORS_PER_GROUP) {
    this.#shown = shown;
  }

  /** Adds what a check has found, as the error that says where. `suffix` ends the message. */
  add(found: Problem, error: RecordError, suffix = ""): void {
    this.count++;
    const field = error.field.replace(/\[\d+\]/g, "[]");
    const key = JSON.stringify([field, found.group ?? found.reason]);
    const group = this.#groups.get(key) ?? { count: 0, first: [], messages: [] };
    if (group.count === 0 && this.#groups.size === MAX_GROUPS) return;

    this.#groups.set(key, group);
    group.count++;
    if (group.first.length === this.#shown) return;

    group.first.push(error);
    group.messages.push(format(error) + suffix);
  }

  /** Returns the number of errors of each group, and the first of them. */
  groups(): { count: number; first: RecordError[] }[] {
    return this.#sorted().map(({ count, first }) => ({ count, first }));
  }

  /** Lists the first errors of each group, and counts the rest. */
  format(): string {
    const lines: string[] = [];
    let rest = this.count;

    for (const { count, messages } of this.#sorted()) {
      lines.push(...messages);
      rest -= count;

      const more = count - messages.length;
      const all = groupDigits(count);
      if (more === 0) continue;
      lines.push(`  … and ${groupDigits(more)} more like this (${all} in all)`);
    }

    if (rest > 0) lines.push(`… and ${groupDigits(rest)} errors of other kinds`);
    return lines.join("\n");
  }

  #sorted(): ErrorGroup[] {
    const lineOf = ({ first }: ErrorGroup) => first[0]?.line ?? 0;
    return [...this.#groups.values()].sort((a, b) => lineOf(a) - lineOf(b));
  }
}

/** Thrown when a dataset is invalid. `message` lists the first errors of each group. */
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

function format({ line, place, field, reason }: RecordError): string {
  const at = place ?? (line === undefined ? "" : `line ${line}`);
  return [at, field, reason].filter(Boolean).join(": ");
}
