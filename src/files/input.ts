/** Opens, decompresses and splits input. Keeps one chunk and one unfinished line in memory. */
import { constants, createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { pipeline } from "node:stream";
import zlib from "node:zlib";
import { codeOf, reasonOf } from "./errors.ts";

/** The worst line of this length, a million opening brackets, takes 0.1 s and 100 MB to parse. */
const MAX_LINE_BYTES = 2 ** 20;
/** With Node's default of 16 KiB, decompression takes three times as long. */
const CHUNK_BYTES = 1 << 18;
const HEAD_BYTES = 512;

/** What an input is that cannot be read, with advice, and how it begins in Latin-1. */
const foreign: Record<string, RegExp> = {
  "a spreadsheet; save each sheet as CSV UTF-8, and import their folder":
    /^(?:PK[^\w\s,;"]|\xd0\xcf)/,
  "a snapshot; give its path to roadbook import": /^SQLite format 3\0.{52}RBOK/s,
  "a SQLite database; use import sqlite:FILE --queries FOLDER": /^SQLite format 3\0/,
  "compressed with zstd; use zstd -dc FILE | roadbook import -": /^\x28\xb5\x2f\xfd/,
  "in UTF-16; use iconv -f UTF-16 -t UTF-8 FILE": /^(?:\xff\xfe|\xfe\xff|[^\0]\0|\0[^\0])/,
  "a JSON array; use jq -c '.[]' FILE | roadbook import -": /^(?:\xef\xbb\xbf)?\s*\[/,
  "JSON over several lines; write one object per line: jq -c . FILE | roadbook import -":
    /^(?:\xef\xbb\xbf)?\s*\{(?:[^\n}]*[{[,])?\s*\n/,
  "a CSV file; use roadbook import FOLDER, where each is named after its table, such as users.csv":
    /^(?:\xef\xbb\xbf)?\s*"?[\w\x80-\xff][\w\x80-\xff "'./()-]*[,;\t]/,
};

/** `start` is in Latin-1, which has a character for each byte. */
export function findForeign(start: string): string | undefined {
  return Object.keys(foreign).find((kind) => foreign[kind]?.test(start));
}

export function isGzip(start: Uint8Array): boolean {
  return start[0] === 0x1f && start[1] === 0x8b;
}

export interface TextLine {
  /** Starts at 1 and counts blank lines. */
  number: number;
  text: string;
  /** Why the line cannot be read. Then `text` is empty. */
  problem?: string;
}

const IS_FOLDER =
  "it is a folder; if it has CSV files, build a snapshot with roadbook import FOLDER --to FILE";

export async function openFile(path: string): Promise<FileHandle> {
  // Without O_NONBLOCK, opening a FIFO could block forever.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const stats = await file.stat();
  if (stats.isFile()) return file;
  await file.close();
  throw new Error(stats.isDirectory() ? IS_FOLDER : "not a regular file");
}

/** Stands for standard input or output, where a file can be given. */
export const STANDARD = "-";

/** Whether what names an input is a URL, and not a path. */
export function isUrl(name: string): boolean {
  return /^[a-z][a-z\d+.-]*:\/\//i.test(name);
}

export function openInput(path: string): AsyncIterable<Uint8Array> {
  return path === STANDARD ? process.stdin : readFileBytes(path);
}

export async function* readFileBytes(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path);
  } catch (error) {
    throw new Error(`cannot read ${path}: ${reasonOf(error)}`);
  }
}

/** Decompresses gzip data of one or more members (RFC 1952). Throws if it cannot be a dataset. */
export async function* decompress(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const chunks = input[Symbol.asyncIterator]();
  let head: Uint8Array = new Uint8Array();
  while (head.length < HEAD_BYTES) {
    const next = await chunks.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }

  let bytes = 0;
  async function* whole() {
    try {
      const start = Buffer.from(head).toString("latin1", 0, HEAD_BYTES);
      const kind = findForeign(start);
      if (kind !== undefined) throw new Error(`the input is ${kind}`);
      bytes += head.length;
      yield head;
      for await (const chunk of { [Symbol.asyncIterator]: () => chunks }) {
        bytes += chunk.length;
        yield chunk;
      }
    } finally {
      // Closes the input even if the reader stops after `head`.
      await chunks.return?.();
    }
  }

  if (!isGzip(head)) return yield* whole();
  const decoder = zlib.createGunzip({ chunkSize: CHUNK_BYTES });
  try {
    // The callback can ignore errors, because reading the decoder throws them.
    yield* pipeline(whole(), decoder, () => {});
  } catch (error) {
    if (!codeOf(error).startsWith("Z_")) throw error;
    throw new Error(`the gzip data is damaged or ends early: ${reasonOf(error)}`);
  }

  // zlib silently stops at zeros, which some programs use as padding between members.
  if (decoder.bytesWritten !== bytes) {
    throw new Error("the gzip data is followed by other data; remove that data or repack the file");
  }
}

/** Yields the non-blank lines of `bytes` in batches. Ignores a byte order mark. */
export async function* readLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<TextLine[]> {
  const splitter = new LineSplitter();
  for await (const chunk of bytes) {
    const lines = splitter.split(chunk);
    if (lines.length > 0) yield lines;
  }
  const last = splitter.end();
  if (last) yield [last];
}

class LineSplitter {
  readonly #utf8 = new TextDecoder("utf-8", { fatal: true });
  #number = 0;
  /** The unfinished line. Once the line is too long, further bytes are counted but not kept. */
  #parts: Uint8Array[] = [];
  #size = 0;

  /** Returns the lines that end in this chunk. */
  split(chunk: Uint8Array): TextLine[] {
    const lines: TextLine[] = [];
    let from = 0;
    for (let to = chunk.indexOf(10); to >= 0; to = chunk.indexOf(10, from)) {
      this.#keep(chunk.subarray(from, to));
      const line = this.#finish();
      if (line) lines.push(line);
      from = to + 1;
    }
    this.#keep(chunk.subarray(from));
    return lines;
  }

  /** Returns the last line if it does not end with a line feed. */
  end(): TextLine | undefined {
    return this.#size > 0 ? this.#finish() : undefined;
  }

  #keep(part: Uint8Array): void {
    if (this.#size <= MAX_LINE_BYTES) this.#parts.push(part);
    this.#size += part.length;
  }

  #finish(): TextLine | undefined {
    // Joins the parts only once per line, because chunks may be as small as a single byte.
    const [only] = this.#parts;
    const line = this.#parts.length === 1 && only ? only : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#size = 0;
    this.#number++;
    const number = this.#number;
    if (line.length > MAX_LINE_BYTES) {
      return { number, text: "", problem: `is longer than ${MAX_LINE_BYTES / 2 ** 20} MiB` };
    }
    try {
      const text = this.#utf8.decode(line);
      return text.trim() === "" ? undefined : { number, text };
    } catch {
      const problem = "is not valid UTF-8; convert the file, for example with iconv";
      return { number, text: "", problem };
    }
  }
}
