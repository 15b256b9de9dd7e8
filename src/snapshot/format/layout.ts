/**
 * The layout of a snapshot file: a SQLite database, whose header says how long it is
 * (https://www.sqlite.org/fileformat.html), the hashes of its blocks, and the SHA-256 of all bytes
 * before that. seal.ts writes it.
 */
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { createSha256, readChunks, readFully } from "../../files/bytes.ts";
import { isDamagedDatabase, isFileSystemError, naming, reasonOf } from "../../files/errors.ts";
import { findForeign, isGzip, SNAPSHOT_MARK } from "../../files/input-kind.ts";

export const APPLICATION_ID = Buffer.from(SNAPSHOT_MARK).readUInt32BE();
export const SCHEMA_VERSION = 8;

export const HEADER_BYTES = 100;
/** The offsets of numbers in the header. */
const PAGE_BYTES_AT = 16;
const PAGES_AT = 28;
const USER_VERSION_AT = 60;
const APPLICATION_ID_AT = 68;

/** `head -c -81 FILE | sha256sum` computes the hash that `tail -c 81 FILE` shows. */
const CHECKSUM_BYTES = 81;
/** Smaller blocks would save a replica as many bytes as their further hashes add. */
export const BLOCK_BYTES = 8192;
/** CRC-32 takes no time next to SHA-256. A collision costs a download of the whole file. */
export const BLOCK_HASH_BYTES = 4;
/** The advice for a dataset that is not yet a snapshot. */
const BUILD_ONE = "build one with roadbook import DATASET --to FILE";

/** Like {@link parseHeader}, but throws unless the whole snapshot has the size that it declares. */
export async function readLayout(source: FileHandle | Uint8Array) {
  const size = source instanceof Uint8Array ? source.length : (await source.stat()).size;
  const layout = parseHeader(source instanceof Uint8Array ? source : await readHeader(source));
  if (size === layout.fileBytes) return layout;
  throw new SnapshotError(`is damaged: it has ${size} bytes instead of ${layout.fileBytes}`);
}

export const readHeader = (file: FileHandle): Promise<Uint8Array> =>
  readFully(file, Buffer.alloc(HEADER_BYTES), 0);

/** Returns the schema, which may be an older one, and the sizes that the header in `bytes` declares. */
export function parseHeader(bytes: Uint8Array) {
  const header = Buffer.from(bytes.subarray(0, HEADER_BYTES));
  const reason = findHeaderProblem(header);
  if (reason !== undefined) throw new SnapshotError(reason);

  const schema = header.readUInt32BE(USER_VERSION_AT);
  const newer = `has schema ${schema}, but this Roadbook reads schema ${SCHEMA_VERSION}`;
  if (schema > SCHEMA_VERSION) throw new SnapshotError(`${newer}; use a newer Roadbook`);

  const databaseBytes = header.readUInt32BE(PAGES_AT) * header.readUInt16BE(PAGE_BYTES_AT);
  const fileBytes = databaseBytes + hashBytesOf(databaseBytes) + CHECKSUM_BYTES;
  return { schema, databaseBytes, fileBytes };
}

function findHeaderProblem(header: Buffer): string | undefined {
  const text = header.toString("latin1");
  const isSqlite = text.startsWith("SQLite format 3\0") && header.length === HEADER_BYTES;
  if (isSqlite && header.readUInt32BE(APPLICATION_ID_AT) === APPLICATION_ID) return undefined;

  if (header.length === 0) return "is empty";
  if (isGzip(header) || /^(?:\xef\xbb\xbf)?\s*\{/.test(text)) {
    return `is a dataset, not a snapshot; ${BUILD_ONE}`;
  }
  const isCut = text.startsWith("SQLite") && text.length < HEADER_BYTES;
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

/** Returns the checksum of a snapshot of `size` bytes. Throws if another one stands at the end. */
export async function verifyChecksum(
  source: FileHandle | Uint8Array,
  size: number,
): Promise<string> {
  const hash = createSha256();
  for await (const chunk of readChunks(source, 0, size - CHECKSUM_BYTES)) hash.update(chunk);
  const sha256 = hash.digest("hex");
  for await (const chunk of readChunks(source, size - CHECKSUM_BYTES, size)) {
    if (checksumLine(sha256).equals(chunk)) return sha256;
  }
  throw new SnapshotError("is damaged: its checksum does not match");
}

/** Reads the checksum at the end of a file, without verifying it. */
export async function readChecksum(path: string): Promise<string> {
  await using file = await open(path);
  const at = (await file.stat()).size - CHECKSUM_BYTES;
  const line = await readFully(file, Buffer.alloc(CHECKSUM_BYTES), at);
  return /[\da-f]{64}/.exec(line.toString("latin1"))?.[0] ?? "";
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

/** Returns an error that names the snapshot that was read. Returns a bug as it is. */
export function toSnapshotError(source: string | Uint8Array, error: unknown): unknown {
  const file = typeof source === "string" ? source : undefined;
  if (error instanceof SnapshotError) return new SnapshotError(error.reason, error.detail, file);
  if (!isFileSystemError(error) && !isDamagedDatabase(error)) return error;
  const problem = isFileSystemError(error) ? "cannot be read" : "is damaged";
  const detail = `${problem}: ${reasonOf(error, { withFile: false })}`;
  return new SnapshotError(problem + publicReasonOf(error), detail, file);
}

/** A colon and why a file cannot be read or written. Empty for other errors, which may name a path. */
export function publicReasonOf(error: unknown): string {
  return isFileSystemError(error) ? `: ${reasonOf(error, { withFile: false })}` : "";
}
