/** Reads a file, or bytes in memory, in chunks, and never blocks the event loop for long. */
import type { FileHandle } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";

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
async function readFully(file: FileHandle, buffer: Buffer, at: number): Promise<Buffer> {
  let read = 0;
  while (read < buffer.length) {
    const { bytesRead } = await file.read(buffer, read, buffer.length - read, at + read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return buffer.subarray(0, read);
}
