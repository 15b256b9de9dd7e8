/** Reads a dataset or a change file to its end, and gathers what is wrong with it on the way. */
import { createHash } from "node:crypto";
import type { Fault } from "../../domain/dataset.ts";
import { decompress, readLines } from "../../files/lines.ts";

/** Of a hopeless dataset this many faults are told, and how many there are. */
const MAX_TOLD = 20;

export interface LineFault extends Fault {
  line: number;
}

/** The lines break the rules of a dataset; `message` has a line for each of the first faults. */
export class DatasetError extends Error {
  override name = "DatasetError";
  readonly faults: LineFault[];
  readonly count: number;

  constructor(faults: LineFault[], count: number) {
    const told = faults.map(
      ({ line, field, reason }) => `line ${line}: ${field === "" ? "" : `${field}: `}${reason}`,
    );
    if (count > faults.length) told.push(`… and ${count - faults.length} more errors`);
    super(told.join("\n"));
    this.faults = faults;
    this.count = count;
  }
}

/** What is done with the lines. */
export interface LineHandler<Line> {
  parse(text: string): Line | Fault[];
  /** Takes one line; returns what is wrong with it, if anything. */
  add(line: Line, number: number): Fault[];
  /** After the last line: what shows only when all lines are known. */
  finish(): Iterable<LineFault>;
}

/**
 * Hands each line of `input` (NDJSON, plain, gzip or zstd) to `handler`. Resolves to the SHA-256 of
 * the text in hexadecimal; rejects with a {@link DatasetError} when anything was wrong.
 */
export async function readDataset<Line extends object>(
  input: AsyncIterable<Uint8Array>,
  handler: LineHandler<Line>,
): Promise<string> {
  const hash = createHash("sha256");
  async function* text() {
    for await (const chunk of decompress(input)) {
      hash.update(chunk);
      yield chunk;
    }
  }
  const faults: LineFault[] = [];
  let count = 0;
  const tell = (line: number, found: Iterable<Fault>) => {
    for (const fault of found) {
      count++;
      if (faults.length < MAX_TOLD) faults.push({ ...fault, line });
    }
  };
  for await (const lines of readLines(text())) {
    for (const { number, text, problem = "" } of lines) {
      if (text === undefined) {
        tell(number, [{ field: "", reason: problem }]);
        continue;
      }
      const parsed = handler.parse(text);
      tell(number, Array.isArray(parsed) ? parsed : handler.add(parsed, number));
    }
  }
  for (const fault of handler.finish()) tell(fault.line, [fault]);
  if (count === 0) return hash.digest("hex");
  throw new DatasetError(
    faults.sort((a, b) => a.line - b.line),
    count,
  );
}
