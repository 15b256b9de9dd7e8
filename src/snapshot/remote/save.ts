/**
 * Saves a snapshot from another machine, compressed or not. Never writes more than one byte beyond
 * the size that its header declares. Checks nothing else: opening the file does that.
 */
import { createWriteStream } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import { decompress } from "../../files/decompress.ts";
import { HEADER_BYTES, InvalidSnapshot, parseFileBytes } from "../format/file.ts";
import { TransferError } from "./transfer.ts";

/**
 * How much larger a download may be than its snapshot. Compressing random data adds less than 1 %.
 * The constant covers the data that is received before the header is decompressed.
 */
const MAX_OVERHEAD = { share: 0.01, bytes: 2 ** 24 };

/**
 * Writes the snapshot in `input` to the new file `path` and returns how many bytes were received.
 * Stops after a header that is not a snapshot's, and one byte past the declared size; such a file
 * cannot be opened. `isAnySchema` allows every schema version. Throws a {@link TransferError} if
 * the disk has no room, an error if compressed data is damaged, and the errors of `input`.
 */
export async function saveSnapshot(
  input: AsyncIterable<Uint8Array>,
  path: string,
  isAnySchema = false,
): Promise<number> {
  let received = 0;
  let declared = 0;

  async function* countReceived() {
    for await (const chunk of input) {
      // Skippable frames and empty gzip members could go on forever without a byte of content.
      if (received > declared * (1 + MAX_OVERHEAD.share) + MAX_OVERHEAD.bytes) {
        throw new TransferError("sends far more data than the snapshot needs");
      }
      received += chunk.length;
      yield chunk;
    }
  }

  async function* truncate() {
    let head: Uint8Array = new Uint8Array();
    let written = 0;
    for await (const chunk of decompress(countReceived())) {
      let next = chunk;
      if (declared === 0) {
        head = Buffer.concat([head, chunk]);
        if (head.length < HEADER_BYTES) continue;
        declared = findDeclaredSize(head, isAnySchema) ?? 0;
        if (declared === 0) break;
        await requireRoom(declared, dirname(path));
        next = head;
      }
      next = next.subarray(0, declared + 1 - written);
      written += next.length;
      yield next;
      if (written > declared) return;
    }
    if (declared === 0) yield head.subarray(0, HEADER_BYTES);
  }

  await pipeline(truncate, createWriteStream(path, { flags: "wx", mode: 0o600 }));
  return received;
}

/** The size that a header declares; undefined if it is not the header of a snapshot. */
function findDeclaredSize(head: Uint8Array, isAnySchema: boolean): number | undefined {
  try {
    return parseFileBytes(head, isAnySchema);
  } catch (error) {
    if (error instanceof InvalidSnapshot) return undefined;
    throw error;
  }
}

async function requireRoom(bytes: number, folder: string): Promise<void> {
  const { blocks, bavail, bsize } = await statfs(folder);
  // Some network file systems do not report their size.
  if (blocks === 0 || bytes <= bavail * bsize) return;
  const gigabytes = (bytes / 1e9).toFixed(1);
  throw new TransferError(`needs ${gigabytes} GB, more than is free on the disk it is saved to`);
}
