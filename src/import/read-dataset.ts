/**
 * Reads a whole dataset or change file, whatever its source is. Each record gets its numbers, is
 * cleaned, validated and given to a handler. An error is final unless the handler skips what is
 * invalid. Errors are grouped, so that frequent ones never hide others.
 */
import type { PlacedFinding, RecordError, RecordId } from "../domain/raw-records.ts";
import type { RecordItem, RecordReader, UnknownColumn } from "../domain/record-reader.ts";
import { createRoundedIds } from "../domain/source-ids.ts";
import { groupDigits } from "../domain/text.ts";
import { InvalidRecord } from "../domain/validate-record.ts";
import { type CleaningOptions, createCleaner, type OddCount } from "./clean-record.ts";
import type { Ids } from "./ids.ts";
import { ERRORS_PER_GROUP, type ImportOptions } from "./options.ts";
import type { RecordHandler } from "./write-rows.ts";

const ROUNDED =
  "looks like a number that a program has rounded, and so do all other long ids of this type; have that program read ids as text, or import them as they are with --force";

/** The report on a dataset that has been read. */
export interface ReadReport {
  /** How many names that are written had invisible characters or extra white space. */
  cleaned: number;
  /** How many names that are written look wrong; see clean-record.ts. */
  names: Record<"entities" | "misread" | "placeholders" | "contacts", OddCount>;
  /** Times before 1990 or in the future. */
  times: OddCount;
  unknownColumns: readonly UnknownColumn[];
  /** How files were read, where they could not show it at once. */
  notes: readonly string[];
  /** The errors of which the records, or the invalid parts of them, were skipped. */
  skipped: RecordErrors;
  /** How many users became private because a record about them is invalid. */
  madePrivate: number;
  /** How many users were left out because their ids cannot be read. */
  leftOut: number;
}

export interface ReadOptions extends CleaningOptions, Pick<ImportOptions, "maxErrors"> {
  /** Whether to take ids that look rounded. */
  takesRounded?: boolean | undefined;
}

/** Rejects with a {@link DatasetError} if any error was not skipped. Times after `nowMs` are odd. */
export async function readDataset<Parsed extends RecordId>(
  reader: RecordReader,
  handler: RecordHandler<Parsed>,
  ids: Ids,
  nowMs: number,
  options: ReadOptions = {},
): Promise<ReadReport> {
  const errors = collectErrors(reader, ids, handler.skip !== undefined, options.maxErrors);
  const cleaner = await createCleaner(nowMs, options);
  const rounded = createRoundedIds();
  let madePrivate = 0;
  let leftOut = 0;

  /** Gives a record to the handler. Skips it if it is invalid and the handler can. */
  function take({ record, line }: RecordItem): void {
    rounded.add(record, line);
    ids.translate(record);
    const oddTexts = cleaner.clean(record);
    const parsed = handler.validate(record);
    const isInvalid = parsed instanceof InvalidRecord;
    const findings = isInvalid ? parsed.errors : handler.add(parsed, line);
    if (findings.length === 0) {
      cleaner.count(oddTexts);
      return;
    }

    const known = isInvalid ? parsed.recordId : parsed;
    const skipped = known && handler.skip?.(known, parsed, line);
    if (skipped?.madePrivate) madePrivate++;
    const facts = { type: known?.type, id: known?.id, line, consequence: skipped?.consequence };
    for (const finding of findings) errors.report({ ...finding, ...facts, isFinal: !skipped });
  }

  for await (const items of reader.read()) {
    for (const item of items) {
      if ("record" in item) take(item);
      else {
        errors.add(item);
        if (item.losesUser) leftOut++;
      }
    }
  }

  for (const first of options.takesRounded ? [] : rounded.list()) {
    errors.report({ field: "id", reason: ROUNDED, ...first, isFinal: true });
  }
  handler.complete(errors.report);
  const { final, skipped } = errors;
  if (final.count > 0) throw new DatasetError(final);

  const { cleaned, times, ...names } = cleaner.odd;
  const { unknownColumns, notes } = reader;
  const odd = { cleaned: cleaned.count, names, times };
  return { ...odd, unknownColumns, notes, skipped, madePrivate, leftOut };
}

/** Collects the errors in a dataset, of which those that are not final are skipped. */
function collectErrors(
  reader: RecordReader,
  ids: Ids,
  isSkipping: boolean,
  maxErrors: number | undefined,
) {
  const final = new RecordErrors(maxErrors);
  const skipped = new RecordErrors(maxErrors);
  /** Records that are invalid themselves. References to them are not reported as errors. */
  const invalid = new Set<string>();

  /** Adds an error that says where it is, and has the ids of the source. */
  function add(error: PlacedFinding): void {
    const { missing, isFinal } = error;
    if (missing && invalid.has(`${missing.type} ${missing.id}`)) return;
    const all = isFinal || !isSkipping ? final : skipped;
    all.add(error);
  }

  /** Adds an error in a record with the id in the snapshot, or in the source if it is text. */
  function report(error: PlacedFinding): void {
    const { type, isFinal } = error;
    const id =
      type && typeof error.id === "number" ? ids.inSource({ type, id: error.id }) : error.id;
    if (isFinal && type !== "user") invalid.add(`${type} ${id}`);
    add(reader.locate({ ...error, id }));
  }

  return { final, skipped, add, report };
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

  add(error: PlacedFinding): void {
    this.count++;
    const { field, type, id, line, place, consequence = "" } = error;
    const key = JSON.stringify([field.replace(/\[\d+\]/g, "[]"), error.group ?? error.reason]);
    const group = this.#groups.get(key) ?? { count: 0, first: [], messages: [] };
    if (group.count === 0 && this.#groups.size === MAX_GROUPS) return;

    this.#groups.set(key, group);
    group.count++;
    if (group.first.length === this.#shown) return;

    const reason = error.reason + consequence;
    group.first.push({ field, reason, type, id, line, place });
    group.messages.push(format({ ...error, reason }));
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

/** Names the record, unless the place or the reason does. */
function format({ line, place, field, reason, type, id, hasId }: PlacedFinding): string {
  const at = place ?? (line === undefined ? "" : `line ${line}`);
  const isUnknown = id === undefined || type === undefined;
  const suffix = isUnknown || hasId ? "" : ` (${type} ${id})`;
  return [at, field, reason + suffix].filter(Boolean).join(": ");
}
