/** Writes the trailer of a snapshot: the hashes and the checksum after the database; see layout.ts. */
import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import zlib from "node:zlib";
import { readChunks } from "../../files/read-chunks.ts";
import { writeAll } from "../../files/write-all.ts";
import { BLOCK_BYTES, checksumLine, hashBytesOf, parseSizes, readHeader } from "./layout.ts";

/** Replaces the trailer of a file, if it has one. Returns the checksum. */
export async function writeTrailer(path: string): Promise<string> {
  await using file = await open(path, "r+");
  const { databaseBytes } = parseSizes(await readHeader(file));
  const hash = createHash("sha256");
  const blocks: Buffer[] = [];
  for await (const chunk of readChunks(file, 0, databaseBytes, BLOCK_BYTES)) {
    hash.update(chunk);
    blocks.push(hashBlocks(chunk));
  }

  const hashes = Buffer.concat(blocks);
  const sha256 = hash.update(hashes).digest("hex");
  const trailer = Buffer.concat([hashes, checksumLine(sha256)]);
  await writeAll(file, trailer, databaseBytes);
  await file.truncate(databaseBytes + trailer.length);
  return sha256;
}

/** Returns a copy of the bytes of a database with its trailer. */
export function addTrailer(database: Uint8Array): Uint8Array {
  const hashes = hashBlocks(database);
  const sha256 = createHash("sha256").update(database).update(hashes).digest("hex");
  return Buffer.concat([database, hashes, checksumLine(sha256)]);
}

function hashBlocks(bytes: Uint8Array): Buffer {
  const hashes = Buffer.alloc(hashBytesOf(bytes.length));
  let end = 0;
  for (let at = 0; at < bytes.length; at += BLOCK_BYTES) {
    end = hashes.writeUInt32BE(zlib.crc32(bytes.subarray(at, at + BLOCK_BYTES)), end);
  }
  return hashes;
}
