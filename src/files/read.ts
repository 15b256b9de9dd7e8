/** Reads regular files in chunks, without blocking the event loop. */
import { constants, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { codeOf } from "./errors.ts";

/** Small enough that computing the SHA-256 hash of a chunk takes at most 0.7 ms. */
const CHUNK_BYTES = 1 << 18;

/** Throws if the file cannot be opened or is not a regular file. */
export async function openFile(path: string): Promise<FileHandle> {
  // Without O_NONBLOCK, opening a FIFO could block forever.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new Error("not a regular file");
}

/**
 * Yields the bytes from offset `from` up to offset `to`, and stops early if the source is shorter.
 * A chunk from a file is valid only until the next chunk is requested.
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

/**
 * Returns a string that changes when the file at a path is replaced, written to or moved. If there
 * is no such file, the string is an error code such as ENOENT.
 */
export function findIdentity(path: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join();
  } catch (error) {
    return codeOf(error);
  }
}

/** Returns the part of an identity that stays the same when the file is written to or renamed. */
export function fileOf(identity: string): string {
  return identity.split(",", 2).join();
}
