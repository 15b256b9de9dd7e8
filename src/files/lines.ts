/** Splits input into lines. Keeps one chunk and one unfinished line in memory. */
import { createReadStream } from "node:fs";
import { reasonOf } from "./errors.ts";

/** The worst line of this length, a million opening brackets, takes 0.1 s and 100 MB to parse. */
const MAX_LINE_BYTES = 2 ** 20;

export interface TextLine {
  /** Starts at 1 and counts blank lines. */
  number: number;
  /** The line, or its beginning if the line is too long. Invalid bytes are U+FFFD. */
  text: string;
  /** Why the line cannot be read. */
  problem?: string;
}

/** `-` is standard input. */
export function openInput(path: string): AsyncIterable<Uint8Array> {
  return path === "-" ? process.stdin : readFileBytes(path);
}

export async function* readFileBytes(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path);
  } catch (error) {
    throw new Error(`cannot read ${path}: ${reasonOf(error)}`);
  }
}

/** Yields the non-blank lines of `bytes` in batches. Ignores a byte order mark at the start. */
export async function* readLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<TextLine[]> {
  const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let number = 0;
  /** The unfinished line. Once the line is too long, further bytes are counted but not kept. */
  let parts: Uint8Array[] = [];
  let size = 0;

  function keep(part: Uint8Array): void {
    if (size <= MAX_LINE_BYTES) parts.push(part);
    size += part.length;
  }

  /** Returns undefined if the line is blank. */
  function finish(): TextLine | undefined {
    // Joins the parts only once per line, because chunks may be as small as a single byte.
    const line = parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
    parts = [];
    size = 0;
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
      const problem = "is not valid UTF-8; convert the file, for example with iconv";
      return { number, text: readLeniently(), problem };
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
  if (line) yield [line];
}
