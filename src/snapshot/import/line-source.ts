/** Reads records from lines: NDJSON, plain or gzip, from a file, a stream, bytes or objects. */
import {
  InvalidRecord,
  parseObject,
  type RawRecord,
  validateMarker,
} from "../../domain/dataset.ts";
import {
  type FoundError,
  type Item,
  OWN_IDS,
  type RecordError,
  type RecordSource,
  type SourceIds,
} from "../../domain/record-source.ts";
import type { ValidationError } from "../../domain/validation-errors.ts";
import { decompress, readFileBytes, readLines, type TextLine } from "../../files/input.ts";

/** The path of an NDJSON file (plain or gzip), the objects in its lines, or its bytes. */
export type LineSource<Line extends object = object> =
  | string
  | Uint8Array
  | Iterable<Line>
  | AsyncIterable<Uint8Array>;

export interface LineOptions {
  /** Whether a missing end line is an error, because the dataset may be incomplete. */
  expectEnd?: boolean | undefined;
}

export class LineReader implements RecordSource {
  readonly ids: SourceIds;
  readonly unknownColumns = [];
  readonly #batches: AsyncGenerator<TextLine[]>;
  /** The batch that has been read to find out whose ids these are. */
  readonly #first: TextLine[];
  readonly #options: LineOptions;
  /** How many lines have been read. */
  #count = 0;
  /** The number of the end line. */
  #end: number | undefined;

  private constructor(
    batches: AsyncGenerator<TextLine[]>,
    first: TextLine[],
    options: LineOptions,
  ) {
    this.#batches = batches;
    this.#first = first;
    this.#options = options;
    const record = parseObject(first[0]?.text ?? "");
    const marker = record instanceof InvalidRecord ? undefined : validateMarker(record);
    this.ids = marker && "map" in marker ? { kind: "snapshot", mark: marker.map } : OWN_IDS;
  }

  static async open(source: LineSource, options: LineOptions): Promise<LineReader> {
    const batches = readLines(decompress(bytesOf(source)));
    const first = await batches.next();
    return new LineReader(batches, first.value ?? [], options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#batches.return(undefined);
  }

  async *read(): AsyncGenerator<Iterable<Item>> {
    yield this.#readBatch(this.#first);
    for await (const lines of this.#batches) yield this.#readBatch(lines);
    if (!this.#options.expectEnd || this.#end !== undefined) return;
    const reason = "the end line is missing, so the dataset may be incomplete";
    yield listProblems([{ field: "", reason }]);
  }

  /** A place is the number of a line. */
  locate({ at, first, ...error }: FoundError): RecordError {
    const reason = error.reason + (first === undefined ? "" : ` (first on line ${first})`);
    return { ...error, reason, line: at };
  }

  *#readBatch(lines: TextLine[]): Generator<Item> {
    for (const line of lines) {
      const record = this.#parse(line);
      this.#count++;
      if (record instanceof InvalidRecord) yield* listProblems(record.errors, line.number);
      else if (record) yield { record, at: line.number };
    }
  }

  /** Returns undefined for a line about the whole dataset. */
  #parse({ number, text, problem }: TextLine): RawRecord | InvalidRecord | undefined {
    if (this.#end !== undefined) return invalid(`comes after the end line (line ${this.#end})`);
    if (problem !== undefined) return invalid(problem);
    const record = parseObject(text);
    if (record instanceof InvalidRecord) return record;
    const marker = validateMarker(record);
    if (marker === undefined) return record;
    if (marker instanceof InvalidRecord) return marker;
    if (marker.type === "ids") {
      return this.#count === 0 ? undefined : invalid('with "type":"ids" must be the first line');
    }
    this.#end = number;
    if (marker.lines === this.#count) return undefined;
    const expected = `must be ${this.#count} (the number of lines before this one)`;
    return invalid(`${expected}, got ${marker.lines}`, "lines");
  }
}

function invalid(reason: string, field = ""): InvalidRecord {
  return new InvalidRecord([{ field, reason }]);
}

/** Nobody can say what such a line was meant to be, so it is never skipped. */
function* listProblems(errors: ValidationError[], line?: number): Generator<Item> {
  for (const error of errors) yield { problem: { ...error, line }, isFatal: true };
}

async function* bytesOf(source: LineSource): AsyncGenerator<Uint8Array> {
  if (typeof source === "string") yield* readFileBytes(source);
  else if (source instanceof Uint8Array) yield source;
  else if (Symbol.asyncIterator in source) yield* source;
  else for (const object of source) yield Buffer.from(`${JSON.stringify(object)}\n`);
}
