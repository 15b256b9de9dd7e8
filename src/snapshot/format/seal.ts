/**
 * Makes a database a snapshot: clears what SQLite leaves behind, and adds the hashes of the blocks and
 * the checksum (layout.ts).
 *
 * SQLite overwrites deleted data with zeros (`secure_delete` in src/import/target.ts), but leaves copies of
 * moved rows in the unused space of a page. ../README.md has all that stays of private users.
 */
import { open } from "node:fs/promises";
import { crc32, createSha256, readChunks, writeAll } from "../../files/bytes.ts";
import {
  BLOCK_BYTES,
  checksumLine,
  HEADER_BYTES,
  hashBytesOf,
  parseHeader,
  readHeader,
} from "./layout.ts";

/** The size of the pages of every snapshot, which is SQLite's default. */
export const SQLITE_PAGE_BYTES = 4096;

/** Returns a database in memory as a snapshot. */
export function sealBytes(database: Uint8Array): Uint8Array {
  const sealer = createSealer();
  sealer.add(database);
  return Buffer.concat([database, sealer.trailer()]);
}

/** Replaces the trailer of a file that nothing else has open, if it has one. */
export async function sealFile(path: string): Promise<void> {
  await using file = await open(path, "r+");
  const { databaseBytes } = parseHeader(await readHeader(file));
  const sealer = createSealer();
  let at = 0;
  for await (const chunk of readChunks(file, 0, databaseBytes, BLOCK_BYTES)) {
    if (sealer.add(chunk)) await writeAll(file, chunk, at);
    at += chunk.length;
  }

  const trailer = sealer.trailer();
  await writeAll(file, trailer, databaseBytes);
  await file.truncate(databaseBytes + trailer.length);
}

/** Takes a database in chunks of whole blocks. */
function createSealer() {
  const hash = createSha256();
  const blocks: Buffer[] = [];
  return {
    /** Clears the unused space of the next chunk. Returns whether this has changed it. */
    add(chunk: Uint8Array): boolean {
      const hasChanged = clearUnused(chunk, blocks.length === 0);
      hash.update(chunk);
      blocks.push(hashBlocks(chunk));
      return hasChanged;
    },
    /** Returns the trailer, after the last chunk. */
    trailer(): Buffer {
      const hashes = Buffer.concat(blocks);
      return Buffer.concat([hashes, checksumLine(hash.update(hashes).digest("hex"))]);
    },
  };
}

function hashBlocks(bytes: Uint8Array): Buffer {
  const hashes = Buffer.alloc(hashBytesOf(bytes.length));
  let end = 0;
  for (let at = 0; at < bytes.length; at += BLOCK_BYTES) {
    end = hashes.writeUInt32BE(crc32(bytes.subarray(at, at + BLOCK_BYTES)), end);
  }
  return hashes;
}

/** The types of B-tree pages, and the lengths of their headers. */
const btreeHeaders: Record<number, number> = { 2: 12, 5: 12, 10: 8, 13: 8 };
const zeros = Buffer.alloc(SQLITE_PAGE_BYTES);

/**
 * Fills the space between the cell pointers and the cells of each B-tree page with zeros. The first
 * pages of a file begin with its header. Returns whether anything has changed.
 */
export function clearUnused(pages: Uint8Array, isFirst: boolean): boolean {
  let hasChanged = false;
  for (let at = 0; at < pages.length; at += SQLITE_PAGE_BYTES) {
    const page = Buffer.from(pages.buffer, pages.byteOffset + at, SQLITE_PAGE_BYTES);
    const start = isFirst && at === 0 ? HEADER_BYTES : 0;
    // An overflow or free page begins with a page number, whose first byte is 0 in any file that
    // is smaller than 64 GB.
    const headerBytes = btreeHeaders[page[start] ?? 0];
    if (headerBytes === undefined) continue;
    const cells = page.readUInt16BE(start + 3);
    const unused = page.subarray(start + headerBytes + 2 * cells, page.readUInt16BE(start + 5));
    if (unused.equals(zeros.subarray(0, unused.length))) continue;
    unused.fill(0);
    hasChanged = true;
  }
  return hasChanged;
}
