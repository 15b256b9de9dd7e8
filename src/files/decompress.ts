/** Decompresses what may be compressed with gzip or zstd. */
import { Duplex } from "node:stream";
import { DecompressionStream, ReadableStream } from "node:stream/web";
import { createZstdDecompress } from "node:zlib";
import { codeOf, reasonOf } from "./errors.ts";

/**
 * The decompressed bytes of `input`: gzip and zstd are recognised by their first bytes. Throws when
 * the compressed data is damaged or ends early.
 */
export async function* decompress(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const chunks = input[Symbol.asyncIterator]();
  let head: Uint8Array = new Uint8Array();
  while (head.length < 4) {
    const next = await chunks.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  async function* whole() {
    yield head;
    yield* { [Symbol.asyncIterator]: () => chunks };
  }
  const format = formatOf(head);
  if (!format) return yield* whole();
  try {
    yield* ReadableStream.from(whole()).pipeThrough(createDecoder(format));
  } catch (error) {
    const isDamaged = error instanceof TypeError || /^(Z|ERR_ZSTD)_/.test(codeOf(error));
    if (!isDamaged) throw error;
    // Node has the reason in the cause.
    const { cause = error } = error as Error;
    throw new Error(`the ${format} data is damaged or ends early: ${reasonOf(cause)}`);
  }
}

/**
 * Of Bun's decoders the web's alone refuses a zstd frame that ends early; Node's of the web has no
 * zstd, and its own refuses one from 24 on.
 */
function createDecoder(format: "gzip" | "zstd"): DecompressionStream {
  return format === "zstd" && !process.versions.bun
    ? (Duplex.toWeb(createZstdDecompress()) as DecompressionStream)
    : new DecompressionStream(format as "gzip"); // zstd is in no type of the web yet
}

function formatOf(head: Uint8Array): "gzip" | "zstd" | undefined {
  const magic = Buffer.from(head.subarray(0, 4)).toString("hex");
  if (magic.startsWith("1f8b")) return "gzip";
  return magic === "28b52ffd" ? "zstd" : undefined;
}
