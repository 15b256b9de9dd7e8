/** Reads a dataset or a change file to its end, and gathers what is wrong with it on the way. */
import { createHash } from "node:crypto";
import type { EndLine } from "../../domain/dataset.ts";
import {
  detectOtherFormat,
  findRecord,
  type RecordKey,
  type ValidationError,
} from "../../domain/validation.ts";
import { decompress } from "../../files/decompress.ts";
import { readFileBytes, readLines, type Line as TextLine } from "../../files/lines.ts";
import { createLineErrors, DatasetError, type LineError } from "./line-errors.ts";

/** Lines: the path of a file (NDJSON, plain, gzip or zstd), objects, or the bytes of such a file. */
export type Lines<Line extends object = object> =
  | string
  | Iterable<Line>
  | AsyncIterable<Uint8Array>;

/** What is done with the lines. */
export interface LineHandler<Line> {
  parse(text: string): Line | EndLine | ValidationError[];
  /** Carries one line out, or returns what is wrong with it. */
  add(line: Line, number: number): ValidationError[];
  /** Leaves out what is wrong with a line. Without it, wrong lines are errors. */
  skip?(line: TextLine): Skipped;
  /** After the last line: what shows only when all lines are known. */
  finish(): Iterable<LineError & { missing?: RecordKey }>;
}

interface Skipped {
  /** Why the line cannot be left out. */
  refused?: ValidationError[];
  /** The errors in the fields that were left out instead of the line. */
  lost?: ValidationError[];
}

const END: RecordKey = { type: "end" };
const RECODE = "convert it, for example iconv -f WINDOWS-1252 -t UTF-8 FILE";
const RESEND = "if it comes through a pipe, see whether the program in front has failed";

export interface ReadOptions {
  /** A dataset without an end line is an error, as it may have been cut. */
  expectEnd?: boolean | undefined;
  /** The snapshot may lose more than half of its users or companies. */
  allowShrink?: boolean | undefined;
  /** The errors to report of each kind. Default 5. */
  maxErrors?: number | undefined;
}

/**
 * Hands each line of `input` to `handler`. Rejects with a
 * {@link DatasetError} when anything was wrong that is not skipped. What shows that the input is not
 * what was sent never is: bytes that are not UTF-8, a last line that breaks off, and an end line that is
 * wrong or not the last. Resolves to the SHA-256 of the lines as they are kept (see meta.ts), in
 * hexadecimal, and what was skipped.
 */
export async function readDataset<Line extends RecordKey>(
  input: Lines,
  handler: LineHandler<Line>,
  { expectEnd = false, maxErrors }: ReadOptions = {},
) {
  const hash = createHash("sha256");
  const [wrong, left] = [createLineErrors(maxErrors), createLineErrors(maxErrors)];
  const [errors, skipped] = [wrong.errors, left.errors];
  /** The records in lines with errors: a reference to one of them is no further error. */
  const defined = new Set<string>();
  /** The kept lines of a batch: hashed one by one, they take twice as long. */
  let kept: string[] = [];
  let lines = 0;
  let last = 0;
  let endedAt = 0;

  /** The record that a line is about, and the errors in the line. */
  function check({ number, text, problem, isGarbled }: TextLine): [RecordKey, ValidationError[]] {
    if (endedAt > 0) return [END, [{ field: "", reason: `comes after the end line ${endedAt}` }]];
    if (problem !== undefined) {
      return [
        findRecord(text),
        [{ field: "", reason: problem, ...(isGarbled && { fix: RECODE }) }],
      ];
    }
    const parsed = handler.parse(text);
    if (Array.isArray(parsed)) return [findRecord(text), parsed];
    if (!("lines" in parsed)) {
      const found = handler.add(parsed, number);
      if (found.length === 0) kept.push(keptText(parsed, text));
      return [parsed, found];
    }
    endedAt = number;
    kept.push(text);
    if (parsed.lines === lines) return [END, []];
    const reason = `is ${parsed.lines}, but ${lines} lines come before it`;
    return [END, [{ field: "lines", reason }]];
  }

  for await (const batch of readLines(decompress(bytesOf(input)))) {
    for (const line of batch) {
      const [record, found] = check(line);
      lines++;
      last = line.number;
      if (found.length === 0) continue;
      const place = { line: line.number, type: record.type, id: record.id };
      const mistake = lines === 1 && detectOtherFormat(line.text);
      if (mistake) {
        wrong.add({ ...mistake, ...place });
        throw new DatasetError(errors);
      }
      // Such lines show that the dataset is not what was sent, rather than wrong in one row.
      const isDamage = record.type === "end" || line.isGarbled || isCutOff(line);
      const skip = isDamage ? undefined : handler.skip?.(line);
      if (!skip || skip.refused) {
        if (record.id !== undefined && record.type !== "user") defined.add(keyOf(record));
        errors.lines++;
        const fix = isCutOff(line) && { kind: "breaks off", fix: RESEND };
        const all = [...found, ...(skip?.refused ?? [])];
        for (const error of all) wrong.add({ ...fix, ...error, ...place });
      } else if (skip.lost) {
        skipped.fields += new Set(skip.lost.map(({ field }) => field.replace(/\W.*/s, ""))).size;
        for (const error of skip.lost) {
          const { reason, kind = reason } = error;
          left.add({ ...error, kind, reason: `${reason}; only this field is left out`, ...place });
        }
      } else {
        skipped.lines++;
        for (const error of found) left.add({ ...error, ...place });
      }
    }
    if (kept.length > 0) hash.update(`${kept.join("\n")}\n`);
    kept = [];
  }
  if (expectEnd && endedAt === 0) {
    const reason = "the end line is missing, so the dataset may have been cut";
    wrong.add({ line: last + 1, field: "", reason, fix: RESEND, ...END });
  }
  for (const { missing, ...error } of handler.finish()) {
    if (missing && defined.has(keyOf(missing))) continue;
    const list = handler.skip ? left : wrong;
    list.errors.references++;
    list.add(error);
  }
  if (errors.count > 0) throw new DatasetError(errors);
  return { sha256: hash.digest("hex"), skipped, lines };
}

function keyOf({ type, id }: RecordKey): string {
  return `${type} ${id}`;
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

/** Whether a line with errors is the last one and breaks off. */
function isCutOff({ text, isCut = false }: TextLine): boolean {
  if (!isCut) return false;
  try {
    JSON.parse(text);
    return false;
  } catch {
    return true;
  }
}
