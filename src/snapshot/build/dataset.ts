/** Reads a dataset or a change file to its end, and gathers what is wrong with it on the way. */
import { createHash } from "node:crypto";
import { type EndLine, isMeantAsEnd, type ValidationError } from "../../domain/dataset.ts";
import { decompress } from "../../files/decompress.ts";
import { readFileBytes, readLines, type Line as TextLine } from "../../files/lines.ts";

/** Lines: the path of a file (NDJSON, plain, gzip or zstd), objects, or the bytes of such a file. */
export type Lines<Line extends object = object> =
  | string
  | Iterable<Line>
  | AsyncIterable<Uint8Array>;

/** Of a hopeless dataset this many errors are reported, and how many there are. */
const MAX_REPORTED = 20;

export interface LineError extends ValidationError {
  line: number;
}

/** What is wrong with some lines: the first errors, and how many there are of what. */
export interface LineErrors {
  first: LineError[];
  count: number;
  /** How many lines are wrong by themselves. */
  lines: number;
  /** How many references lead nowhere. */
  references: number;
}

function noErrors(): LineErrors {
  return { first: [], count: 0, lines: 0, references: 0 };
}

/** The lines break the rules of a dataset; `message` has a line for each of the first errors. */
export class DatasetError extends Error {
  override name = "DatasetError";
  readonly count: number;
  /** The first of them. */
  readonly errors: LineError[];

  constructor(errors: LineErrors) {
    super(formatErrors(errors));
    this.count = errors.count;
    this.errors = errors.first;
  }
}

/** A line of text for each of the first errors, and one that counts the others. */
export function formatErrors({ first, count }: LineErrors): string {
  const sorted = first.toSorted((a, b) => a.line - b.line);
  const texts = sorted.map(
    ({ line, field, reason }) => `line ${line}: ${field === "" ? "" : `${field}: `}${reason}`,
  );
  if (count > first.length) texts.push(`… and ${count - first.length} more errors`);
  return texts.join("\n");
}

/** What is done with the lines. */
export interface LineHandler<Line> {
  parse(text: string): Line | EndLine | ValidationError[];
  /** Carries one line out, or returns what is wrong with it. */
  add(line: Line, number: number): ValidationError[];
  /**
   * Has a wrong line left out, of which `text` may be the beginning alone, or returns why it cannot be.
   * Without it, wrong lines are errors.
   */
  skip?(text: string, isBeginning: boolean): ValidationError[];
  /** After the last line: what shows only when all lines are known. */
  finish(): Iterable<LineError>;
}

export interface ReadOptions {
  /** A dataset without an end line is an error, as it may have been cut. */
  expectEnd?: boolean | undefined;
  /** The snapshot may lose more than half of its users or companies. */
  allowShrink?: boolean | undefined;
}

/**
 * Hands each line of `input` to `handler`. Rejects with a
 * {@link DatasetError} when anything was wrong that is not skipped. What shows that the input is not
 * what was sent never is: bytes that are not UTF-8, a last line that breaks off, and an end line that is
 * wrong or not the last. Resolves to the SHA-256 of the lines as they are kept (see meta.ts), in
 * hexadecimal, and what was skipped.
 */
export async function readDataset<Line extends object>(
  input: Lines,
  handler: LineHandler<Line>,
  { expectEnd = false }: ReadOptions = {},
) {
  const hash = createHash("sha256");
  const [errors, skipped] = [noErrors(), noErrors()];
  /** The kept lines of a batch: hashed one by one, they take twice as long. */
  let kept: string[] = [];
  let lines = 0;
  let last = 0;
  let endedAt = 0;

  function check({ number, text, problem }: TextLine): ValidationError[] {
    if (endedAt > 0) return [{ field: "", reason: `comes after the end line ${endedAt}` }];
    if (text === undefined || problem !== undefined) return [{ field: "", reason: problem ?? "" }];
    const parsed = handler.parse(text);
    if (Array.isArray(parsed)) return parsed;
    if (!("lines" in parsed)) {
      const wrong = handler.add(parsed, number);
      if (wrong.length === 0) kept.push(keptText(parsed, text));
      return wrong;
    }
    endedAt = number;
    kept.push(text);
    if (parsed.lines === lines) return [];
    return [{ field: "lines", reason: `is ${parsed.lines}, but ${lines} lines come before it` }];
  }

  /** Why a wrong line must not be left out; undefined when no line is. */
  function skip(line: TextLine): ValidationError[] | undefined {
    if (endedAt > 0 || isSignOfDamage(line)) return undefined;
    return handler.skip?.(line.text ?? "", line.problem !== undefined);
  }

  for await (const batch of readLines(decompress(bytesOf(input)))) {
    for (const line of batch) {
      const found = check(line);
      lines++;
      last = line.number;
      if (found.length === 0) continue;
      const reasons = skip(line);
      const wrong = reasons?.length === 0 ? skipped : errors;
      wrong.lines++;
      report(wrong, line.number, [...found, ...(reasons ?? [])]);
    }
    if (kept.length > 0) hash.update(`${kept.join("\n")}\n`);
    kept = [];
  }
  if (expectEnd && endedAt === 0) {
    const reason = "the end line is missing, so the dataset may have been cut";
    report(errors, last + 1, [{ field: "", reason }]);
  }
  const wrong = handler.skip ? skipped : errors;
  for (const error of handler.finish()) {
    wrong.references++;
    report(wrong, error.line, [error]);
  }
  if (errors.count > 0) throw new DatasetError(errors);
  return { sha256: hash.digest("hex"), skipped };
}

/** The part of a line that a snapshot keeps: the id of a private user, and otherwise all of it. */
function keptText(line: object, text: string): string {
  if (!("id" in line && "public" in line) || line.public) return text;
  return JSON.stringify({ type: "user", id: line.id, public: false });
}

/** The SHA-256 of lines, each with its end, in hexadecimal. */
export function hashLines(lines: Iterable<string>): string {
  const hash = createHash("sha256");
  for (const line of lines) hash.update(`${line}\n`);
  return hash.digest("hex");
}

function bytesOf(lines: Lines): AsyncIterable<Uint8Array> {
  if (typeof lines === "string") return readFileBytes(lines);
  return Symbol.asyncIterator in lines ? lines : format(lines);
}

async function* format(objects: Iterable<object>): AsyncGenerator<Uint8Array> {
  for (const object of objects) yield Buffer.from(`${JSON.stringify(object)}\n`);
}

function report(errors: LineErrors, line: number, found: ValidationError[]): void {
  errors.count += found.length;
  for (const error of found.slice(0, MAX_REPORTED - errors.first.length)) {
    errors.first.push({ ...error, line });
  }
}

/** Of a line with errors: whether the dataset is not what was sent, rather than wrong in one row. */
function isSignOfDamage({ text, isCut = false }: TextLine): boolean {
  if (text === undefined || isMeantAsEnd(text)) return true;
  if (!isCut) return false;
  try {
    JSON.parse(text);
    return false;
  } catch {
    return true;
  }
}
