/** Reads records from lines: NDJSON, plain or gzip, from a file, a stream, bytes or objects. */
import {
  type Item,
  OWN_IDS,
  type Problem,
  type RawRecord,
  type RecordReader,
  type SourceIds,
} from "../domain/records.ts";
import { parseObject, validateMarker } from "../domain/validate-record.ts";
import { reasonOf } from "../files/errors.ts";
import { decompress, openInput, readStream } from "../files/input.ts";
import { readLines, type TextLine } from "../files/lines.ts";

/**
 * The origin of lines: the path of an NDJSON file (plain or gzip) or `-` for standard input, its
 * bytes, also as a stream, or the objects in its lines. For an import, the path may also be that of a
 * snapshot or of tables.
 */
export type LineSource<Line extends object = object> =
  | string
  | Uint8Array
  | Iterable<Line>
  | AsyncIterable<Uint8Array>;

export interface LineOptions {
  /** Whether a missing end line is an error, because the dataset may be incomplete. */
  expectEnd?: boolean | undefined;
  /** Called repeatedly with the number of bytes that have been read. */
  onBytes?: ((bytes: number) => void) | undefined;
}

/** Reads the first line, which says whose ids these are. */
export async function openLines(
  source: LineSource,
  { expectEnd, onBytes }: LineOptions = {},
): Promise<RecordReader> {
  const batches = readLines(decompress(counting(bytesOf(source), onBytes)));
  let ids: SourceIds = OWN_IDS;
  /** The number of the end line. */
  let end: number | undefined;
  /** How many lines have been parsed. */
  let count = 0;

  function* parse(lines: TextLine[]): Generator<Item> {
    for (const line of lines) {
      const record = parseLine(line);
      count++;
      if (Array.isArray(record)) yield* listProblems(record, line.number);
      else if (record) yield { record, line: line.number };
    }
  }

  /** Returns undefined for a line about the whole dataset. */
  function parseLine({ number, text, problem }: TextLine): RawRecord | Problem[] | undefined {
    if (end !== undefined) return invalid(`comes after the end line (line ${end})`);
    if (problem !== undefined) return invalid(problem);

    const record = parseObject(text);
    if (Array.isArray(record)) return record;

    const marker = validateMarker(record);
    if (marker === undefined) return record;
    if (Array.isArray(marker)) return marker;

    if (marker.type === "ids") {
      if (count > 0) return invalid('with "type":"ids" must be the first line');
      ids = { kind: "snapshot", mark: marker.map };
      return undefined;
    }

    end = number;
    if (marker.lines === count) return undefined;
    const expected = `must be ${count} (the number of lines before this one)`;
    return invalid(`${expected}, got ${marker.lines}`, "lines");
  }

  const { value: lines = [] } = await batches.next();
  const first = [...parse(lines.slice(0, 1))];

  async function* read(): AsyncGenerator<Iterable<Item>> {
    yield first;
    yield parse(lines.slice(1));
    for await (const others of batches) yield parse(others);

    if (!expectEnd || end !== undefined) return;
    const reason = "the end line is missing, so the dataset may be incomplete";
    yield listProblems([{ field: "", reason }]);
  }

  return {
    ids,
    read,
    notes: [],
    unknownColumns: [],
    locate: (error) => ({ error, isNamed: false }),
    async [Symbol.asyncDispose]() {
      await batches.return(undefined);
    },
  };
}

const invalid = (reason: string, field = ""): Problem[] => [{ field, reason }];

/** Such a line could have been meant as anything, so it is never skipped. */
function* listProblems(errors: Problem[], line?: number): Generator<Item> {
  for (const problem of errors) yield { problem, line };
}

function bytesOf(source: LineSource): Iterable<Uint8Array> | AsyncIterable<Uint8Array> {
  if (typeof source === "string") return openInput(source);
  if (source instanceof Uint8Array) return [source];
  if (Symbol.asyncIterator in source) return readStream("the source", () => source);
  return toJson(source);
}

async function* counting(
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  onBytes: LineOptions["onBytes"],
): AsyncGenerator<Uint8Array> {
  let read = 0;
  for await (const chunk of chunks) {
    read += chunk.length;
    onBytes?.(read);
    yield chunk;
  }
}

/** As text, objects are checked like lines of a file, and those of the caller do not change. */
function* toJson(objects: Iterable<object>): Generator<Uint8Array> {
  let line = 0;
  for (const object of objects) {
    line++;
    yield Buffer.from(`${stringify(object, line)}\n`);
  }
}

/** Fails for objects that JSON cannot express, such as one with a bigint. */
function stringify(object: object, line: number): string {
  try {
    return JSON.stringify(object);
  } catch (error) {
    throw new TypeError(`line ${line} of the source cannot be JSON: ${reasonOf(error)}`);
  }
}
