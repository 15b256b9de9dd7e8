/** Decompresses gzip data, refuses data that is no dataset, and passes other data through unchanged. */
import { pipeline } from "node:stream";
import zlib from "node:zlib";
import { codeOf, reasonOf } from "./errors.ts";
import { HEAD_BYTES, refuseOtherFormats } from "./formats.ts";

/** With Node's default of 16 KiB, decompression takes three times as long. */
const CHUNK_BYTES = 1 << 18;

/**
 * Yields the bytes of `input`, decompressed if they begin like gzip data (RFC 1952) of one or more
 * members. Throws if the data is damaged, ends early, is followed by something else, or cannot be a
 * dataset.
 */
export async function* decompress(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const chunks = input[Symbol.asyncIterator]();
  let head: Uint8Array = new Uint8Array();
  while (head.length < HEAD_BYTES) {
    const next = await chunks.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  const isGzip = head[0] === 0x1f && head[1] === 0x8b;
  let bytes = 0;
  async function* whole() {
    try {
      if (!isGzip) refuseOtherFormats(head);
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
  if (!isGzip) return yield* whole();
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
