/**
 * Saves a snapshot that comes from elsewhere, compressed or not. Its header promises a length, and no
 * more than that is written, whatever is sent. Checks nothing else: opening the file does.
 */
import { createWriteStream } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import { decompress } from "../../files/decompress.ts";
import { HEADER_BYTES, InvalidSnapshot, parseFileBytes } from "../format/file.ts";
import { TransferError } from "./transfer.ts";

/**
 * Incompressible data grows by less than a hundredth. The constant covers what is received before the
 * header is decompressed.
 */
const MAX_OVERHEAD = { share: 0.01, bytes: 2 ** 24 };

/**
 * Writes the snapshot in `input` to the new file `path`; returns how many bytes were received. Stops at
 * once when the header is not that of a snapshot of this schema, or of any, and one byte behind the
 * promised end: the file is then refused when it is opened. Throws a {@link TransferError} when there
 * is no room for it, what `input` throws, and an error when compressed data is damaged.
 */
export async function saveSnapshot(
  input: AsyncIterable<Uint8Array>,
  path: string,
  isAnySchema = false,
): Promise<number> {
  let received = 0;
  let promised = 0;

  async function* count() {
    for await (const chunk of input) {
      // Skippable frames and empty gzip members may go on for ever without a byte of content.
      if (received > promised * (1 + MAX_OVERHEAD.share) + MAX_OVERHEAD.bytes) {
        throw new TransferError("sends far more data than its snapshot takes");
      }
      received += chunk.length;
      yield chunk;
    }
  }

  async function* cut() {
    let head: Uint8Array = new Uint8Array();
    let written = 0;
    for await (const chunk of decompress(count())) {
      let next = chunk;
      if (promised === 0) {
        head = Buffer.concat([head, chunk]);
        if (head.length < HEADER_BYTES) continue;
        promised = findPromise(head, isAnySchema) ?? 0;
        if (promised === 0) break;
        await refuseWithoutRoom(promised, dirname(path));
        next = head;
      }
      next = next.subarray(0, promised + 1 - written);
      written += next.length;
      yield next;
      if (written > promised) return;
    }
    if (promised === 0) yield head.subarray(0, HEADER_BYTES);
  }

  await pipeline(cut, createWriteStream(path, { flags: "wx", mode: 0o600 }));
  return received;
}

/** The length that a header promises; undefined when it is not that of a snapshot. */
function findPromise(head: Uint8Array, isAnySchema: boolean): number | undefined {
  try {
    return parseFileBytes(head, isAnySchema);
  } catch (error) {
    if (error instanceof InvalidSnapshot) return undefined;
    throw error;
  }
}

async function refuseWithoutRoom(bytes: number, folder: string): Promise<void> {
  const { blocks, bavail, bsize } = await statfs(folder);
  // Some network file systems report no sizes at all.
  if (blocks === 0 || bytes <= bavail * bsize) return;
  const gigabytes = (bytes / 1e9).toFixed(1);
  throw new TransferError(`takes ${gigabytes} GB, and the disk that it is saved to has less free`);
}
