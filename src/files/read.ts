/**
 * Reads regular files in chunks, without blocking the event loop. Anything else at a path, such as
 * a FIFO, is an immediate error.
 */
import { type BigIntStats, constants, fstatSync, statSync } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { codeOf } from "./errors.ts";

/** Small enough that hashing a chunk (SHA-256) takes 0.7 ms at most. */
const CHUNK_BYTES = 1 << 18;

/** The path leads to something other than a regular file. */
export class NotAFileError extends Error {
  override name = "NotAFileError";
  override message = "is not a regular file";
}

/** Opens a file to read. Throws a {@link NotAFileError}, or errors of the file system. */
export async function openFile(path: string): Promise<FileHandle> {
  if (!(await stat(path)).isFile()) throw new NotAFileError();
  // O_NONBLOCK, in case a FIFO has replaced the file: without a writer, opening it would block.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new NotAFileError();
}

/**
 * The bytes from one offset to another, or to the end if that comes first. A chunk of a file is
 * valid only until the next one is requested.
 */
export async function* readChunks(
  source: FileHandle | Uint8Array,
  from: number,
  to: number,
): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.alloc(CHUNK_BYTES);
  for (let at = from; at < to; ) {
    const length = Math.min(CHUNK_BYTES, to - at);
    const chunk =
      source instanceof Uint8Array
        ? source.subarray(at, at + length)
        : buffer.subarray(0, (await source.read(buffer, 0, length, at)).bytesRead);
    if (chunk.length === 0) return;
    yield chunk;
    at += chunk.length;
    if (source instanceof Uint8Array) await setImmediate();
  }
}

/** Changes when a path leads to another file, or when the file is written to or moved. */
export function identityOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join();
}

/** The identity of the file at a path, or the error code if it cannot be read. */
export function findIdentity(path: string): string {
  try {
    return identityOf(statSync(path, { bigint: true }));
  } catch (error) {
    return codeOf(error);
  }
}

/** The part of an identity that stays the same when the file is written to or renamed. */
export function fileOf(identity: string): string {
  return identity.split(",", 2).join();
}

/**
 * Returns a function that reports whether an open file has been written to since this call.
 * Renaming the file or changing its permissions does not count. Linux sets the modification time
 * before it changes the data (`file_modified()`), so data read before the function returns false is
 * unchanged.
 */
export function watchWrites({ fd }: FileHandle): () => boolean {
  const { size, mtimeMs } = fstatSync(fd);
  return () => {
    try {
      const now = fstatSync(fd);
      return now.size !== size || now.mtimeMs !== mtimeMs;
    } catch {
      // The file system is no longer available.
      return true;
    }
  };
}
