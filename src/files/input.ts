/** Opens an input, decompresses it, and refuses what cannot be a dataset. */
import { createReadStream, statSync } from "node:fs";
import { codeOf, naming, reasonOf, toFileError } from "./errors.ts";
import { findForeign, isGzip, STANDARD } from "./input-kind.ts";

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
    throw toFileError(name, "read", error);
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
