/**
 * The layout of a snapshot file: a SQLite database, whose header says how long it is
 * (https://www.sqlite.org/fileformat.html), the hashes of its blocks, and the SHA-256 of all bytes
 * before that. seal.ts writes it.
 */
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { isDamagedDatabase, isFileSystemError, naming, reasonOf } from "../../files/errors.ts";
import { findForeign, isGzip, isSnapshotStart, SNAPSHOT_MARK } from "../../files/input.ts";

export const APPLICATION_ID = Buffer.from(SNAPSHOT_MARK).readUInt32BE();
export const SCHEMA_VERSION = 8;

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
  return { databaseBytes, fileBytes: databaseBytes + hashBytesOf(databaseBytes) + CHECKSUM_BYTES };
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
export function isSnapshot(path: string): boolean {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return false;
  return naming(path, "read", () => {
    const file = openSync(path, "r");
    try {
      const header = Buffer.alloc(HEADER_BYTES);
      const bytes = readSync(file, header);
      return findHeaderProblem(header.subarray(0, bytes)) === undefined;
    } finally {
      closeSync(file);
    }
  });
}

export const hashBytesOf = (databaseBytes: number) =>
  BLOCK_HASH_BYTES * Math.ceil(databaseBytes / BLOCK_BYTES);

export const checksumLine = (sha256: string) => Buffer.from(`roadbook sha256 ${sha256}\n`);

/** Returns the length of the trailer, which follows the database, from the length of the file. */
export function trailerBytesOf(fileBytes: number): number {
  // The last block may be shorter than the others.
  const blocks = Math.ceil((fileBytes - CHECKSUM_BYTES) / (BLOCK_BYTES + BLOCK_HASH_BYTES));
  return blocks * BLOCK_HASH_BYTES + CHECKSUM_BYTES;
}

/** Reads the checksum at the end of a file, without verifying it. */
export async function readChecksum(path: string): Promise<string> {
  await using file = await open(path);
  const at = (await file.stat()).size - CHECKSUM_BYTES;
  const { buffer } = await file.read(Buffer.alloc(CHECKSUM_BYTES), 0, CHECKSUM_BYTES, at);
  return /[\da-f]{64}/.exec(buffer.toString("latin1"))?.[0] ?? "";
}

export class SnapshotError extends Error {
  override name = "SnapshotError";
  /** Such as "is empty". Anyone can read it in /health, so it has no path and no other secret. */
  readonly reason: string;
  /** The same for the operator, who may read everything. The message has it after the file's name. */
  readonly detail: string;

  constructor(reason: string, detail = reason, file = "the snapshot") {
    super(`${file} ${detail}`);
    this.reason = reason;
    this.detail = detail;
  }
}

/** Does `work`, whose error then names the snapshot that is read. Rethrows an error that is a bug. */
export async function namingSnapshot<T>(source: string | Uint8Array, work: () => T | Promise<T>) {
  try {
    return await work();
  } catch (error) {
    const file = typeof source === "string" ? source : undefined;
    if (error instanceof SnapshotError) throw new SnapshotError(error.reason, error.detail, file);
    if (!isFileSystemError(error) && !isDamagedDatabase(error)) throw error;
    const problem = isFileSystemError(error) ? "cannot be read" : "is damaged";
    const detail = `${problem}: ${reasonOf(error)}`;
    throw new SnapshotError(problem + publicReasonOf(error), detail, file);
  }
}

/** A colon and why a file cannot be read or written. Empty for other errors, which may name a path. */
export function publicReasonOf(error: unknown): string {
  return isFileSystemError(error) ? `: ${reasonOf(error)}` : "";
}
