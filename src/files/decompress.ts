/** Decompresses gzip and zstd data, and passes other data through unchanged. */
import { pipeline } from "node:stream";
import zlib from "node:zlib";
import { codeOf, reasonOf } from "./errors.ts";

/**
 * The size of the output buffer. With Node's default of 16 KiB, decompression takes three times as
 * long.
 */
const CHUNK_BYTES = 1 << 18;

/** RFC 8878, 3.1: the magic number of zstd frames, and the first of 16 for skippable frames. */
const FRAME = 0xfd2fb528;
const FIRST_SKIPPABLE_FRAME = 0x184d2a50;

class DamagedData extends Error {}

/**
 * Yields the decompressed bytes of `input`. Recognises gzip and zstd by their first bytes. Throws
 * if compressed data is damaged or ends early.
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
    try {
      yield head;
      yield* { [Symbol.asyncIterator]: () => chunks };
    } finally {
      // Closes the input even if the reader stops after `head`.
      await chunks.return?.();
    }
  }
  const format = formatOf(head);
  if (!format) return yield* whole();
  const options = { chunkSize: CHUNK_BYTES };
  // The callbacks can ignore errors, because reading the decoder below throws them.
  const decoder =
    format === "gzip"
      ? pipeline(whole(), zlib.createGunzip(options), () => {})
      : pipeline(splitAtFrames(whole()), zlib.createZstdDecompress(options), () => {});
  try {
    yield* decoder;
  } catch (error) {
    const isDamaged = error instanceof DamagedData || /^(Z|ZSTD|ERR_ZSTD)_/.test(codeOf(error));
    if (!isDamaged) throw error;
    throw new Error(`the ${format} data is damaged or ends early: ${reasonOf(error)}`);
  }
}

function formatOf(head: Uint8Array): "gzip" | "zstd" | undefined {
  if (head[0] === 0x1f && head[1] === 0x8b) return "gzip";
  if (head.length < 4) return undefined;
  const magic = Buffer.from(head.subarray(0, 4)).readUInt32LE();
  return magic === FRAME || isSkippable(magic) ? "zstd" : undefined;
}

/**
 * Splits the input so that every frame ends at the end of a chunk, because Node's decoder silently
 * drops any data that follows a frame in the same chunk (nodejs/node#64741). Also throws if a frame
 * ends early, which the decoders in Bun and in Node before 24 do not detect.
 */
async function* splitAtFrames(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const parts = listParts();
  let part = parts.next(0).value;
  let [value, done] = [0, 0];
  for await (const chunk of input) {
    let from = 0;
    for (let at = 0; at < chunk.length; ) {
      if (part.isRead) value += (chunk[at] ?? 0) * 256 ** done;
      const length = part.isRead ? 1 : Math.min(part.bytes - done, chunk.length - at);
      at += length;
      done += length;
      while (done === part.bytes) {
        part = parts.next(value).value;
        [value, done] = [0, 0];
        if (!part.isStart) continue;
        yield chunk.subarray(from, at);
        from = at;
      }
    }
    if (from < chunk.length) yield chunk.subarray(from);
  }
  if (!part.isStart || done > 0) throw new DamagedData("unexpected end of file");
}

interface Part {
  bytes: number;
  /** Whether to read the part as a little-endian number and pass the number to `next`. */
  isRead?: boolean;
  /** Whether this part is the start of a frame. */
  isStart?: boolean;
}

/** Yields the parts of each zstd frame in turn (RFC 8878, 3.1). Never ends. */
function* listParts(): Generator<Part, never, number> {
  const read = (bytes: number) => ({ bytes, isRead: true });
  for (;;) {
    const magic = yield { ...read(4), isStart: true };
    if (isSkippable(magic)) {
      yield { bytes: yield read(4) };
      continue;
    }
    if (magic !== FRAME) throw new DamagedData("unexpected data after the last frame");
    const descriptor = yield read(1);
    const isSingleSegment = (descriptor & 0x20) > 0;
    const windowBytes = isSingleSegment ? 0 : 1;
    const dictionaryIdBytes = [0, 1, 2, 4][descriptor & 3] ?? 0;
    const contentSizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
    yield { bytes: windowBytes + dictionaryIdBytes + contentSizeBytes };
    for (let isLast = false; !isLast; ) {
      const block = yield read(3);
      isLast = (block & 1) > 0;
      const isOneByteRepeated = ((block >> 1) & 3) === 1;
      yield { bytes: isOneByteRepeated ? 1 : block >> 3 };
    }
    const hasChecksum = (descriptor & 4) > 0;
    yield { bytes: hasChecksum ? 4 : 0 };
  }
}

function isSkippable(magic: number): boolean {
  return magic >= FIRST_SKIPPABLE_FRAME && magic < FIRST_SKIPPABLE_FRAME + 16;
}
