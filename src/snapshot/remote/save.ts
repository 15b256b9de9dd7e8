/**
 * Saves a snapshot that is received from another machine, compressed or not. Writes at most one
 * byte more than the size that the snapshot's header declares. Everything else is checked when the
 * file is opened.
 */
import { createWriteStream } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import { decompress } from "../../files/decompress.ts";
import { HEADER_BYTES, InvalidSnapshot, parseFileBytes } from "../format/file.ts";
import { TransferError } from "./transfer.ts";

/**
 * How much larger a download may be than the snapshot in it. `share` covers compression, which
 * makes random data up to 1% larger. `bytes` covers the data that is received before the header has
 * been decompressed.
 */
const MAX_OVERHEAD = { share: 0.01, bytes: 2 ** 24 };

/**
 * Writes the snapshot in `input` to the new file `path` and returns the number of bytes received.
 * Stops early if the header is not a snapshot's, or if there is more data than the header declares.
 * A file that is incomplete for this reason cannot be opened. If `isAnySchema` is set, any schema
 * version is accepted. Throws a {@link TransferError} if the disk has too little space or if far
 * too much data is received. Also throws if compressed data is damaged, and passes on errors from
 * `input`.
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
      // Without this limit, a download could consist of endless skippable frames or empty gzip
      // members, which hold no data.
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

/** Returns the size that a header declares, or undefined if the header is not a snapshot's. */
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
  // Some network file systems report zero blocks, so their free space is unknown.
  if (blocks === 0 || bytes <= bavail * bsize) return;
  const gigabytes = (bytes / 1e9).toFixed(1);
  throw new TransferError(`needs ${gigabytes} GB, more than is free on the disk it is saved to`);
}
