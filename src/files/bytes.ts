/** Opens, reads, writes, copies and hashes files and bytes. Never blocks the event loop for long. */
import { constants } from "node:fs";
import { copyFile, type FileHandle, open, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { setImmediate } from "node:timers/promises";
import { systemError } from "./errors.ts";

const IS_FOLDER =
  "it is a folder; if it has CSV files, build a snapshot with roadbook import FOLDER --to FILE";

export async function openFile(path: string): Promise<FileHandle> {
  // Without O_NONBLOCK, opening a FIFO could block forever.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const stats = await file.stat();
  if (stats.isFile()) return file;
  await file.close();
  throw systemError(stats.isDirectory() ? IS_FOLDER : "not a regular file");
}

/** Small enough that computing the SHA-256 hash of a chunk takes at most 0.7 ms. */
const MAX_CHUNK_BYTES = 1 << 18;

/**
 * All chunks but the last have whole units of `unitBytes`. Ends early if the file does. A chunk of a
 * file is valid until the next is requested.
 */
export async function* readChunks(
  source: FileHandle | Uint8Array,
  from: number,
  to: number,
  unitBytes = 1,
): AsyncGenerator<Uint8Array> {
  const chunkBytes = MAX_CHUNK_BYTES - (MAX_CHUNK_BYTES % unitBytes);
  const isMemory = source instanceof Uint8Array;
  const buffer = Buffer.alloc(isMemory ? 0 : chunkBytes);
  let at = from;
  while (at < to) {
    const length = Math.min(chunkBytes, to - at);
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
export async function readFully(file: FileHandle, buffer: Buffer, at: number): Promise<Buffer> {
  let read = 0;
  while (read < buffer.length) {
    const { bytesRead } = await file.read(buffer, read, buffer.length - read, at + read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return buffer.subarray(0, read);
}

/**
 * Writes all bytes at an offset. On a disk that is nearly full, a single write may take only a part.
 * Rejects if the disk is full.
 */
export async function writeAll(
  file: Pick<FileHandle, "write">,
  bytes: Uint8Array,
  at: number,
): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const rest = bytes.length - written;
    const { bytesWritten } = await file.write(bytes, written, rest, at + written);
    written += bytesWritten;
  }
}

/** Copies a file of `bytes` and needs no space for it if the file system can share its blocks. */
export async function copyIfSpace(from: string, to: string, bytes: number): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_FICLONE_FORCE).catch(async () => {
    await requireSpace(dirname(to), bytes);
    await copyFile(from, to);
  });
}

/** Throws, as writing would, if a file of `bytes` does not fit on the disk of `folder`. */
export async function requireSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize, blocks } = await statfs(folder);
  // Some network file systems do not report their size.
  if (blocks === 0 || bavail * bsize >= bytes) return;
  throw systemError(`no space left on device (${Math.floor((bavail * bsize) / 1e6)} MB are free)`);
}

type Algorithm = "SHA1" | "SHA256";
type Encoding = "hex" | "base64" | "base64url";

interface Hash {
  update(data: Uint8Array): Hash;
  digest(encoding: "hex"): string;
}

// On Bun, its own functions compute hashes, because `node:crypto` and `node:zlib` load Node's streams.
const isBun = process.versions.bun !== undefined;
const node = isBun ? undefined : process.getBuiltinModule("node:crypto");

export const crc32: (bytes: Uint8Array) => number = isBun
  ? Bun.hash.crc32
  : process.getBuiltinModule("node:zlib").crc32;

export function hash(algorithm: Algorithm, data: string | Uint8Array, encoding: Encoding): string {
  return node?.hash(algorithm, data, encoding) ?? Bun[algorithm].hash(data, encoding);
}

/** Hashes data that comes in parts. */
export function createSha256(): Hash {
  return node?.createHash("SHA256") ?? new Bun.SHA256();
}
