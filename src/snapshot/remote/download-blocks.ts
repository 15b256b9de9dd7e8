/**
 * Downloads the blocks in which a snapshot at a source differs from a local copy. Nothing is
 * trusted: the caller verifies every byte of the result.
 */
import { open } from "node:fs/promises";
import { copyIfSpace, writeAll } from "../../files/bytes.ts";
import { openFile } from "../../files/input.ts";
import type { Paths } from "../../files/replace.ts";
import {
  BLOCK_BYTES,
  BLOCK_HASH_BYTES,
  parseWholeHeader,
  readHeader,
  trailerBytesOf,
} from "../format/layout.ts";
import type { Get, Reply } from "./location.ts";

/** Blocks from this source are of no use, but the whole file may be, so nobody is told why. */
export class BlocksError extends Error {}

/** The source has replaced the snapshot during the download. */
export class ReplacedError extends BlocksError {}

/** Bounds the memory for a response. A file that grows by more is downloaded as a whole. */
const MAX_RANGE = 2 ** 22;
/** Receiving this many unchanged bytes is cheaper than another request. */
const MAX_GAP = 2 * BLOCK_BYTES;
const CONNECTIONS = 8;

/** Returns the trailer of a local copy, and the headers that request the one at the source. */
export async function readEnd(path: string) {
  await using file = await openFile(path);
  const { size } = await file.stat();
  const { databaseBytes } = parseWholeHeader(await readHeader(file), size);
  const trailer = Buffer.alloc(size - databaseBytes);
  await file.read(trailer, 0, trailer.length, databaseBytes);
  const from = databaseBytes - (databaseBytes % BLOCK_BYTES);
  return { trailer, from, headers: rangeHeaders(`bytes=${from}-`) };
}

/** If the reply differs from the end of the local copy, replaces the copy by `replaceCopy`. */
export async function downloadBlocks(
  reply: Reply,
  own: Awaited<ReturnType<typeof readEnd>>,
  get: Get,
  replaceCopy: (write: (paths: Paths) => Promise<void>) => Promise<void>,
): Promise<void> {
  const total = Number(reply.headers.get("content-range")?.split("/")[1]);
  const hasGrownTooMuch = total - own.from > own.trailer.length + MAX_RANGE;
  if (!(total > own.from) || hasGrownTooMuch) throw new BlocksError();

  const end = await receive(reply, own.from, total, total);
  const trailerBytes = trailerBytesOf(total);
  const blocks = Math.ceil((total - trailerBytes) / BLOCK_BYTES);
  const known = own.from / BLOCK_BYTES;
  if (blocks < known || end.length < trailerBytes) throw new BlocksError();
  const trailer = end.subarray(-trailerBytes);

  if (trailer.equals(own.trailer)) return;
  const etag = reply.headers.get("etag") ?? "";
  // If-Match never matches a weak ETag, which begins with W.
  if (!etag.startsWith('"')) throw new BlocksError();

  const ranges = listChanged(trailer, own.trailer, known).values();
  await replaceCopy(async ({ next, old }) => {
    await copyIfSpace(old, next, total);
    await using file = await open(next, "r+");

    const downloadRanges = async () => {
      for (const { from, to } of ranges) {
        using part = await get({ ...rangeHeaders(`bytes=${from}-${to - 1}`), "if-match": etag });
        // Some stores and proxies ignore If-Match, so the status need not be 412.
        if (part.headers.get("etag") !== etag) throw new ReplacedError();
        await writeAll(file, await receive(part, from, to, total), from);
      }
    };

    await Promise.all(Array.from({ length: CONNECTIONS }, downloadRanges));
    await file.truncate(total);
    await writeAll(file, end, own.from);
  });
}

/**
 * Lists the ranges of those of the first `count` blocks that have another hash. Neighbouring blocks are
 * joined, so that they take fewer requests.
 */
function listChanged(hashes: Buffer, ownHashes: Buffer, count: number) {
  const ranges: { from: number; to: number }[] = [];
  for (let block = 0; block < count; block++) {
    const at = block * BLOCK_HASH_BYTES;
    if (hashes.readUInt32BE(at) === ownHashes.readUInt32BE(at)) continue;

    const from = block * BLOCK_BYTES;
    const to = from + BLOCK_BYTES;
    const last = ranges.at(-1);
    if (last && from - last.to <= MAX_GAP && to - last.from <= MAX_RANGE) last.to = to;
    else ranges.push({ from, to });
  }
  return ranges;
}

// A compressed response would have neither ranges nor a strong ETag.
const rangeHeaders = (range: string) => ({ range, "accept-encoding": "identity" });

/** Returns the bytes from offset `from` up to offset `to` of a file of `total` bytes. */
async function receive({ status, headers, body }: Reply, from: number, to: number, total: number) {
  const isExpected = headers.get("content-range") === `bytes ${from}-${to - 1}/${total}`;
  if (status !== 206 || !isExpected) throw new BlocksError();

  const bytes = Buffer.alloc(to - from);
  let at = 0;
  for await (const chunk of body) {
    if (at + chunk.length > bytes.length) throw new BlocksError();
    bytes.set(chunk, at);
    at += chunk.length;
  }
  if (at < bytes.length) throw new BlocksError();
  return bytes;
}
