/**
 * Downloads a snapshot into a local copy: the blocks in which it differs or, if that fails, the whole
 * file. Nothing is trusted: every byte of the result is verified before it replaces the copy.
 */
import { createWriteStream, mkdirSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import { copyIfSpace, openFile, readFully, requireSpace, writeAll } from "../../files/bytes.ts";
import { type Paths, replaceFile } from "../../files/replace.ts";
import {
  BLOCK_BYTES,
  BLOCK_HASH_BYTES,
  HEADER_BYTES,
  parseHeader,
  readLayout,
  SnapshotError,
  trailerBytesOf,
} from "../format/layout.ts";
import { verifyFile } from "../format/open.ts";
import { type Get, type Reply, RequestError } from "./location.ts";

/** How often the source may replace the snapshot during a download of blocks. */
const MAX_REPLACED = 3;

/**
 * Downloads to `path` the blocks in which the copy there, if there is one, differs, or else the whole
 * file. Returns the headers of the response; undefined if the source says that the snapshot with `etag`
 * has not changed.
 */
export async function download(
  path: string,
  get: Get,
  hasCopy: boolean,
  etag: string | null,
): Promise<Headers | undefined> {
  // Undefined also if the copy is lost, so the source must send it even if it has not changed.
  const own = hasCopy ? await readEnd(path).catch(() => undefined) : undefined;
  const condition = own && etag !== null ? { "if-none-match": etag } : undefined;

  for (let times = 0; own && times < MAX_REPLACED; times++) {
    using reply = await get({ ...condition, ...own.headers });
    if (reply.status === 304 && condition) return undefined;
    if (reply.status === 200) return await downloadFile(reply, path);

    try {
      return await downloadBlocks(reply, own, get, path);
    } catch (error) {
      // Any other error is one of this machine, so the whole file would fail, too.
      if (!(error instanceof RequestError || error instanceof SnapshotError)) throw error;
      if (!(error instanceof ReplacedError)) break;
    }
  }

  using reply = await get({});
  return await downloadFile(reply, path);
}

async function downloadFile({ status, headers, body }: Reply, path: string): Promise<Headers> {
  // A 206 has only a part of the snapshot, and a 204 has none.
  if (status !== 200) throw new RequestError(`responded with ${status}`);

  await replaceCopy(path, async ({ next }) => {
    await pipeline(bound(body, dirname(path)), createWriteStream(next));
  });
  return headers;
}

async function replaceCopy(path: string, write: (paths: Paths) => Promise<void>): Promise<void> {
  // The folder may have been removed by a program that cleans up temporary files.
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  await replaceFile(path, async (paths) => {
    await write(paths);
    await verifyFile(paths.next);
  });
}

/** Yields no more than the snapshot's header declares, which must fit on the disk of `folder`. */
async function* bound(body: AsyncIterable<Uint8Array>, folder: string): AsyncGenerator<Uint8Array> {
  let head = Buffer.alloc(0);
  let received = 0;
  let size = Number.POSITIVE_INFINITY;
  for await (const chunk of body) {
    if (head.length < HEADER_BYTES) {
      head = Buffer.concat([head, chunk]);
      if (head.length >= HEADER_BYTES) {
        size = parseHeader(head).fileBytes;
        await requireSpace(folder, size);
      }
    }

    received += chunk.length;
    if (received > size) throw new SnapshotError(`is damaged: it has more than ${size} bytes`);
    yield chunk;
  }
}

/** The source has replaced the snapshot during the download. */
class ReplacedError extends RequestError {}

/** The whole file is tried next, so this failure is not reported. */
const unusable = () => new RequestError("sent unusable blocks");

/** Bounds the memory for a response. A file that grows by more is downloaded as a whole. */
const MAX_RANGE = 2 ** 22;
/** Receiving this many unchanged bytes is cheaper than another request. */
const MAX_GAP = 2 * BLOCK_BYTES;
const CONNECTIONS = 8;

/** Returns the trailer of a local copy, and the headers that request the one at the source. */
async function readEnd(path: string) {
  await using file = await openFile(path);
  const { databaseBytes, fileBytes } = await readLayout(file);
  const trailer = await readFully(file, Buffer.alloc(fileBytes - databaseBytes), databaseBytes);
  const from = databaseBytes - (databaseBytes % BLOCK_BYTES);
  return { trailer, from, headers: rangeHeaders(`bytes=${from}-`) };
}

/** Replaces the copy if the reply differs from its end. */
async function downloadBlocks(
  reply: Reply,
  own: Awaited<ReturnType<typeof readEnd>>,
  get: Get,
  path: string,
): Promise<Headers> {
  const { headers } = reply;
  const total = Number(headers.get("content-range")?.split("/")[1]);
  const hasGrownTooMuch = total - own.from > own.trailer.length + MAX_RANGE;
  if (!(total > own.from) || hasGrownTooMuch) throw unusable();

  const end = await receive(reply, own.from, total, total);
  const trailerBytes = trailerBytesOf(total);
  const blocks = Math.ceil((total - trailerBytes) / BLOCK_BYTES);
  const known = own.from / BLOCK_BYTES;
  if (blocks < known || end.length < trailerBytes) throw unusable();
  const trailer = end.subarray(-trailerBytes);

  if (trailer.equals(own.trailer)) return headers;
  const etag = headers.get("etag") ?? "";
  // If-Match never matches a weak ETag, which begins with W.
  if (!etag.startsWith('"')) throw unusable();

  // Each range is taken by one of the loops. One that fails closes the generator, which ends the others.
  const ranges = listChanged(trailer, own.trailer, known);
  await replaceCopy(path, async ({ next, current }) => {
    await copyIfSpace(current, next, total);
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
  return headers;
}

/**
 * Lists the ranges of those of the first `count` blocks that have another hash. Neighbouring blocks are
 * joined, so that they take fewer requests.
 */
function* listChanged(hashes: Buffer, ownHashes: Buffer, count: number) {
  let last: { from: number; to: number } | undefined;
  for (let block = 0; block < count; block++) {
    const at = block * BLOCK_HASH_BYTES;
    if (hashes.readUInt32BE(at) === ownHashes.readUInt32BE(at)) continue;

    const from = block * BLOCK_BYTES;
    const to = from + BLOCK_BYTES;
    if (last && from - last.to <= MAX_GAP && to - last.from <= MAX_RANGE) last.to = to;
    else {
      if (last) yield last;
      last = { from, to };
    }
  }
  if (last) yield last;
}

// A compressed response would have neither ranges nor a strong ETag.
const rangeHeaders = (range: string) => ({ range, "accept-encoding": "identity" });

/** Returns the bytes from offset `from` up to offset `to` of a file of `total` bytes. */
async function receive({ status, headers, body }: Reply, from: number, to: number, total: number) {
  const isExpected = headers.get("content-range") === `bytes ${from}-${to - 1}/${total}`;
  if (status !== 206 || !isExpected) throw unusable();

  const bytes = Buffer.alloc(to - from);
  let at = 0;
  for await (const chunk of body) {
    if (at + chunk.length > bytes.length) throw unusable();
    bytes.set(chunk, at);
    at += chunk.length;
  }
  if (at < bytes.length) throw unusable();
  return bytes;
}
