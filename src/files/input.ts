/**
 * Tells what an input is by its name and its first bytes, refuses what cannot be a dataset, opens and
 * decompresses it, and splits it into lines.
 */
import { createReadStream, statSync } from "node:fs";
import { STANDARD } from "../domain/text.ts";
import { codeOf, named, naming, reasonOf } from "./errors.ts";

/** Decompression is much slower with Node's default of 16 KiB. */
const CHUNK_BYTES = 1 << 18;
const HEAD_BYTES = 512;

/** False for what does not exist. */
export function isFolder(path: string): boolean {
  const stats = naming(path, "read", () => statSync(path, { throwIfNoEntry: false }));
  return stats?.isDirectory() ?? false;
}

/** Returns the path of a regular file. A takedown could wait forever while a FIFO is read. */
export function asFile(path: string, name = path): string {
  const stats = naming(name, "read", () => statSync(path));
  if (!stats.isFile()) throw new Error(`${name} is not a regular file`);
  return path;
}

export function openInput(path: string): AsyncIterable<Uint8Array> {
  return path === STANDARD
    ? readStream("standard input", () => process.stdin)
    : readFileBytes(path);
}

export function readFileBytes(path: string): AsyncGenerator<Uint8Array> {
  return readStream(path, () => createReadStream(path));
}

/** Opens a stream when its first byte is needed. Errors of the file system then name it. */
export async function* readStream(
  name: string,
  open: () => AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* open();
  } catch (error) {
    throw named(name, "read", error);
  }
}

/** Decompresses gzip data, or passes other data on. Throws if it cannot be a dataset. */
export async function* decompress(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const stored = await peek(input);
  const plain = isGzip(stored.head) ? await peek(gunzip(stored.read())) : stored;

  const kind = findForeign(Buffer.from(plain.head).toString("latin1", 0, HEAD_BYTES));
  if (kind !== undefined) {
    await plain.close();
    throw new Error(`the input is ${kind}`);
  }
  yield* plain.read();
}

/** Reads the first bytes of an input, which it then yields again. */
async function peek(input: AsyncIterable<Uint8Array>) {
  const chunks = input[Symbol.asyncIterator]();
  const close = async () => void (await chunks.return?.());
  let head: Uint8Array = new Uint8Array();
  while (head.length < HEAD_BYTES) {
    const next = await chunks.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }

  async function* read(): AsyncGenerator<Uint8Array> {
    try {
      yield head;
      yield* { [Symbol.asyncIterator]: () => chunks };
    } finally {
      // Also if the reader stops after the head.
      await close();
    }
  }
  return { head, read, close };
}

/** Decompresses one or more members (RFC 1952). */
async function* gunzip(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { pipeline } = await import("node:stream");
  const { createGunzip } = await import("node:zlib");
  const decoder = createGunzip({ chunkSize: CHUNK_BYTES });
  let bytes = 0;
  async function* counted() {
    for await (const chunk of input) {
      bytes += chunk.length;
      yield chunk;
    }
  }

  try {
    // The callback can ignore errors, because reading the decoder throws them.
    yield* pipeline(counted(), decoder, () => {});
  } catch (error) {
    if (!codeOf(error).startsWith("Z_")) throw error;
    throw new Error(`the gzip data is damaged or ends early: ${reasonOf(error)}`);
  }

  // zlib silently stops at zeros, which some programs use as padding between members.
  if (decoder.bytesWritten !== bytes) {
    throw new Error("the gzip data is followed by other data; remove that data or repack the file");
  }
}

/** The worst line of this length, a million opening brackets, takes 0.1 s and 100 MB to parse. */
const MAX_LINE_BYTES = 2 ** 20;

export interface TextLine {
  /** Starts at 1 and counts blank lines. */
  number: number;
  text: string;
  /** Why the line cannot be read. Then `text` is empty. */
  problem?: string;
}

/** Yields the non-blank lines of `bytes` in batches. Ignores a byte order mark. */
export async function* readLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<TextLine[]> {
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  let number = 0;
  /** The unfinished line. Once the line is too long, further bytes are counted but not kept. */
  let parts: Uint8Array[] = [];
  let size = 0;

  function keep(part: Uint8Array): void {
    if (size <= MAX_LINE_BYTES) parts.push(part);
    size += part.length;
  }

  /** Returns the line, unless it is blank, in a list. The next line begins. */
  function takeLine(): TextLine[] {
    // Joins the parts only once per line, because chunks may be as small as a single byte.
    const [only] = parts;
    const line = parts.length === 1 && only ? only : Buffer.concat(parts);
    parts = [];
    size = 0;

    number++;
    if (line.length > MAX_LINE_BYTES) {
      return [{ number, text: "", problem: `is longer than ${MAX_LINE_BYTES / 2 ** 20} MiB` }];
    }
    try {
      const text = utf8.decode(line);
      return text.trim() === "" ? [] : [{ number, text }];
    } catch {
      const problem = "is not valid UTF-8; convert the file, for example with iconv";
      return [{ number, text: "", problem }];
    }
  }

  for await (const chunk of bytes) {
    const lines: TextLine[] = [];
    let from = 0;
    for (let to = chunk.indexOf(10); to >= 0; to = chunk.indexOf(10, from)) {
      keep(chunk.subarray(from, to));
      lines.push(...takeLine());
      from = to + 1;
    }
    keep(chunk.subarray(from));
    if (lines.length > 0) yield lines;
  }
  if (size > 0) yield takeLine();
}

/** The application id that marks a SQLite file as a snapshot, in ASCII. */
export const SNAPSHOT_MARK = "RBOK";

/** A kind of input that cannot be read. */
interface Foreign {
  /** What it is, and what to do instead. */
  is: string;
  /** Its beginning in Latin-1, which has a character for each byte. */
  starts: RegExp;
}

const foreign: readonly Foreign[] = [
  {
    is: "a spreadsheet; save it as CSV UTF-8, and give that file, or a folder of several",
    starts: /^(?:PK[^\w\s,;"]|\xd0\xcf)/,
  },
  {
    is: "a snapshot; give its path to roadbook import",
    starts: new RegExp(`^SQLite format 3\\0.{52}${SNAPSHOT_MARK}`, "s"),
  },
  {
    is: "a SQLite database; use import sqlite:FILE --queries FOLDER",
    starts: /^SQLite format 3\0/,
  },
  {
    is: "compressed with zstd; use zstd -dc FILE | roadbook import -",
    starts: /^\x28\xb5\x2f\xfd/,
  },
  {
    is: "in UTF-16; save it as UTF-8, or use iconv -f UTF-16 -t UTF-8 FILE > NEW",
    starts: /^(?:\xff\xfe|\xfe\xff|[^\0]\0|\0[^\0])/,
  },
  {
    is: "a JSON array; convert it with jq -c '.[]' FILE > FILE.ndjson",
    starts: /^(?:\xef\xbb\xbf)?\s*\[/,
  },
  {
    is: "JSON over several lines; write one object per line: jq -c . FILE > FILE.ndjson",
    starts: /^(?:\xef\xbb\xbf)?\s*\{(?:[^\n}]*[{[,])?\s*\n/,
  },
  {
    is: "a CSV file; import its folder, or a name that ends in .csv, into a snapshot",
    starts: /^(?:\xef\xbb\xbf)?\s*"?[\w\x80-\xff][\w\x80-\xff "'./()-]*[,;\t]/,
  },
];

/** Says what input is that cannot be read, and what to do instead. `start` is in Latin-1. */
export function findForeign(start: string): string | undefined {
  return foreign.find(({ starts }) => starts.test(start))?.is;
}

export function isGzip(start: Uint8Array): boolean {
  return start[0] === 0x1f && start[1] === 0x8b;
}
