/**
 * Splits a file or standard input into numbered lines. Never parses them. Holds one chunk and one
 * unfinished line at a time.
 */
import { createReadStream } from "node:fs";
import { reasonOf } from "./errors.ts";

/**
 * A longer line is an error. The largest valid user takes a tenth of it. The worst line that fits,
 * a million open brackets, takes JSON.parse 0.1 s and 100 MB.
 */
const MAX_LINE_BYTES = 2 ** 20;

export interface TextLine {
  /** Starts at 1. Blank lines are counted. */
  number: number;
  /** Only the beginning if the line is too long. */
  text: string;
  /** Why the line cannot be read. */
  problem?: string;
  /** Whether the line is not UTF-8. Invalid bytes are U+FFFD in the text. */
  isGarbled?: boolean;
  /** Whether the input ends without a line break, so the line may be incomplete. */
  isCut?: boolean;
}

/** The bytes of a file, or of standard input for `-`. */
export function openInput(path: string): AsyncIterable<Uint8Array> {
  return path === "-" ? process.stdin : readFileBytes(path);
}

/** The bytes of a file. Errors name the file. */
export async function* readFileBytes(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path);
  } catch (error) {
    throw new Error(`cannot read ${path}: ${reasonOf(error)}`);
  }
}

/** The non-blank lines of `bytes` in batches. A byte order mark at the start is ignored. */
export async function* readLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<TextLine[]> {
  const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let number = 0;
  /** The unfinished line. If it is too long, further bytes are only counted. */
  let parts: Uint8Array[] = [];
  let size = 0;

  function keep(part: Uint8Array): void {
    if (size <= MAX_LINE_BYTES) parts.push(part);
    size += part.length;
  }

  function finish(): TextLine | undefined {
    // Joined only once, because chunks may be as small as a byte.
    const line = parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
    parts = [];
    size = 0;
    return read(line);
  }

  function read(line: Uint8Array): TextLine | undefined {
    number++;
    const readLeniently = () => new TextDecoder().decode(line.subarray(0, MAX_LINE_BYTES));
    if (line.length > MAX_LINE_BYTES) {
      const problem = `is longer than ${MAX_LINE_BYTES / 2 ** 20} MiB`;
      return { number, text: readLeniently(), problem };
    }
    try {
      const text = utf8.decode(line);
      const bare = number === 1 && text.startsWith("\ufeff") ? text.slice(1) : text;
      return bare.trim() === "" ? undefined : { number, text: bare };
    } catch {
      return { number, text: readLeniently(), problem: "is not valid UTF-8", isGarbled: true };
    }
  }

  for await (const chunk of bytes) {
    const lines: TextLine[] = [];
    let from = 0;
    for (let to = chunk.indexOf(10); to >= 0; to = chunk.indexOf(10, from)) {
      keep(chunk.subarray(from, to));
      const line = finish();
      if (line) lines.push(line);
      from = to + 1;
    }
    keep(chunk.subarray(from));
    if (lines.length > 0) yield lines;
  }
  const line = size > 0 && finish();
  if (line) yield [{ ...line, isCut: true }];
}
