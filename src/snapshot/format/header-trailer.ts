/**
 * Reads SQLite's header (https://www.sqlite.org/fileformat.html). Writes and verifies the trailer,
 * which follows the database: the hashes of its blocks, and the SHA-256 of all bytes before it.
 */
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import zlib from "node:zlib";
import { reasonOf } from "../../files/errors.ts";
import { findForeign, isGzip, isSnapshotStart, SNAPSHOT_MARK } from "../../files/file-kinds.ts";
import { writeAll } from "../../files/write-all.ts";
import { SnapshotError } from "./snapshot-error.ts";

export const APPLICATION_ID = Buffer.from(SNAPSHOT_MARK).readUInt32BE();
export const SCHEMA_VERSION = 7;
/** The schema of the release before this one, 0.1.0, which `import` reads. */
export const PREVIOUS_SCHEMA = 6;
/** The first schema of which the files have hashes of blocks. */
const FIRST_WITH_HASHES = 7;

export const HEADER_BYTES = 100;
/** The offsets of numbers in the header. */
const PAGE_BYTES_AT = 16;
const PAGES_AT = 28;
const USER_VERSION_AT = 60;

/** `head -c -81 FILE | sha256sum` computes the hash that `tail -c 81 FILE` shows. */
export const CHECKSUM_BYTES = 81;
/** Half the size would save a replica 0.1 MB of blocks and add 0.1 MB to the hashes of 0.1 MB. */
export const BLOCK_BYTES = 8192;
/** CRC-32 takes no time next to SHA-256. A collision costs a download of the whole file. */
export const BLOCK_HASH_BYTES = 4;
/** The advice for a dataset that is not yet a snapshot. */
const BUILD_ONE = "build one with roadbook import DATASET --to FILE";
/** Small enough that computing the SHA-256 hash of a chunk takes at most 0.7 ms. */
const CHUNK_BYTES = 1 << 18;

export async function readHeader(file: FileHandle): Promise<Uint8Array> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
  return buffer.subarray(0, bytesRead);
}

/** Returns the length of the database. Throws unless a snapshot of `size` bytes begins so. */
export function parseHeader(bytes: Uint8Array, size: number): number {
  const { databaseBytes, fileBytes } = parseSizes(bytes);
  if (size === fileBytes) return databaseBytes;
  throw new SnapshotError(`is damaged: it has ${size} bytes instead of ${fileBytes}`);
}

/** Returns the sizes that the header in `bytes` declares, which may have an older schema. */
export function parseSizes(bytes: Uint8Array) {
  const header = Buffer.from(bytes.subarray(0, HEADER_BYTES));
  const reason = findHeaderProblem(header);
  if (reason !== undefined) throw new SnapshotError(reason);

  const version = header.readUInt32BE(USER_VERSION_AT);
  const newer = `has schema ${version}, but this Roadbook reads schema ${SCHEMA_VERSION}`;
  if (version > SCHEMA_VERSION) throw new SnapshotError(`${newer}; use a newer Roadbook`);

  const databaseBytes = header.readUInt32BE(PAGES_AT) * header.readUInt16BE(PAGE_BYTES_AT);
  const hashBytes = version < FIRST_WITH_HASHES ? 0 : hashBytesOf(databaseBytes);
  return { databaseBytes, fileBytes: databaseBytes + hashBytes + CHECKSUM_BYTES };
}

function findHeaderProblem(header: Buffer): string | undefined {
  if (header.length === 0) return "is empty";
  const text = header.toString("latin1");
  if (isGzip(header) || /^(?:\xef\xbb\xbf)?\s*\{/.test(text)) {
    return `is a dataset, not a snapshot; ${BUILD_ONE}`;
  }
  const isCut = text.startsWith("SQLite") && text.length < HEADER_BYTES;
  if (isSnapshotStart(text) && !isCut) return undefined;
  const kind = isCut ? undefined : findForeign(text);
  return `is not a Roadbook snapshot${kind === undefined ? "" : ` but ${kind}`}`;
}

/** Whether the file begins like a snapshot of any schema. Opening a FIFO could end its writer. */
export async function isSnapshot(path: string): Promise<boolean> {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return false;
  await using file = await open(path).catch((error) => {
    throw new Error(`cannot read ${path}: ${reasonOf(error)}`);
  });
  return findHeaderProblem(Buffer.from(await readHeader(file))) === undefined;
}

/** Clears what pages do not use, as in forget.ts. Returns whether anything has changed. */
type Clear = (pages: Uint8Array, fileHeaderBytes: number) => boolean;

/** Clears all pages and writes the trailer, for which the file is read once. Returns the checksum. */
export async function finishFile(path: string, clear: Clear): Promise<string> {
  await using file = await open(path, "r+");
  const { databaseBytes } = parseSizes(await readHeader(file));
  const hash = createHash("sha256");
  const blocks: Buffer[] = [];
  let at = 0;
  for await (const chunk of readChunks(file, 0, databaseBytes)) {
    const hasChanged = clear(chunk, at === 0 ? HEADER_BYTES : 0);
    if (hasChanged) await writeAll(file, chunk, at);
    hash.update(chunk);
    blocks.push(hashBlocks(chunk));
    at += chunk.length;
  }

  const hashes = Buffer.concat(blocks);
  const sha256 = hash.update(hashes).digest("hex");
  const trailer = Buffer.concat([hashes, checksumLine(sha256)]);
  await writeAll(file, trailer, databaseBytes);
  await file.truncate(databaseBytes + trailer.length);
  return sha256;
}

/** Like {@link finishFile}, for a database in memory. Changes its bytes, and returns a snapshot. */
export function finishBytes(database: Uint8Array, clear: Clear): Uint8Array {
  clear(database, HEADER_BYTES);
  const hashes = hashBlocks(database);
  const sha256 = createHash("sha256").update(database).update(hashes).digest("hex");
  return Buffer.concat([database, hashes, checksumLine(sha256)]);
}

/** Reads the checksum at the end of a file, without verifying it. */
export async function readChecksum(path: string): Promise<string> {
  await using file = await open(path);
  const at = (await file.stat()).size - CHECKSUM_BYTES;
  const { buffer } = await file.read(Buffer.alloc(CHECKSUM_BYTES), 0, CHECKSUM_BYTES, at);
  return /[\da-f]{64}/.exec(buffer.toString("latin1"))?.[0] ?? "";
}

export async function verifyChecksum(source: FileHandle | Uint8Array, size: number) {
  const hash = createHash("sha256");
  for await (const chunk of readChunks(source, 0, size - CHECKSUM_BYTES)) hash.update(chunk);
  const sha256 = hash.digest("hex");
  for await (const chunk of readChunks(source, size - CHECKSUM_BYTES, size)) {
    if (checksumLine(sha256).equals(chunk)) return sha256;
  }
  throw new SnapshotError("is damaged: its checksum does not match");
}

const checksumLine = (sha256: string) => Buffer.from(`roadbook sha256 ${sha256}\n`);

const hashBytesOf = (databaseBytes: number) =>
  BLOCK_HASH_BYTES * Math.ceil(databaseBytes / BLOCK_BYTES);

function hashBlocks(bytes: Uint8Array): Buffer {
  const hashes = Buffer.alloc(hashBytesOf(bytes.length));
  let end = 0;
  for (let at = 0; at < bytes.length; at += BLOCK_BYTES) {
    end = hashes.writeUInt32BE(zlib.crc32(bytes.subarray(at, at + BLOCK_BYTES)), end);
  }
  return hashes;
}

/** Never blocks the event loop for long. A chunk of a file is valid until the next is requested. */
async function* readChunks(source: FileHandle | Uint8Array, from: number, to: number) {
  const isMemory = source instanceof Uint8Array;
  const buffer = Buffer.alloc(isMemory ? 0 : CHUNK_BYTES);
  let at = from;
  while (at < to) {
    const length = Math.min(CHUNK_BYTES, to - at);
    const chunk = isMemory
      ? source.subarray(at, at + length)
      : await readFully(source, buffer.subarray(0, length), at);
    if (chunk.length === 0) return;
    yield chunk;
    at += chunk.length;
    if (isMemory) await setImmediate();
  }
}

/** Fills the buffer, unless the file ends. A single read may return less. */
async function readFully(file: FileHandle, buffer: Buffer, at: number): Promise<Buffer> {
  let read = 0;
  while (read < buffer.length) {
    const { bytesRead } = await file.read(buffer, read, buffer.length - read, at + read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return buffer.subarray(0, read);
}
