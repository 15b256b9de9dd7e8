/**
 * The digest of a snapshot: the SHA-256 of the whole file, kept in the file itself, in `meta`, and
 * taken with zeros in its own place. Over bytes, because that covers every row and every list of the
 * index, misses no bit, and runs at the speed of the disk; over rows it takes ten times as long.
 */
import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { sqlite } from "#sqlite";
import { readDigest, UNSEALED } from "./meta.ts";
import { clearUnused, type FileHeader, HEADER_BYTES, parseHeader } from "./pages.ts";

/** A whole number of pages of any size. */
const CHUNK_BYTES = 1 << 20;

/**
 * Makes a finished file a snapshot: clears what its pages do not use, so that nothing deleted is in
 * it, and puts the digest in its place. Nobody may have the file open.
 */
export function sealSnapshot(path: string): void {
  const place = findDigest(path);
  const file = openSync(path, "r+");
  try {
    const digest = digestOf(file, place, (chunk, at) => {
      if (clearPages(chunk, at, place.header)) writeSync(file, chunk, 0, chunk.length, at);
    });
    writeSync(file, digest, place.at);
  } finally {
    closeSync(file);
  }
}

/** Whether every byte of the file is as it was sealed. Throws what SQLite says of a broken file. */
export function isSealed(path: string): boolean {
  const place = findDigest(path);
  const file = openSync(path, "r");
  try {
    return digestOf(file, place) === place.digest;
  } finally {
    closeSync(file);
  }
}

interface Place {
  digest: string;
  /** The offset of the digest in the file. */
  at: number;
  header: FileHeader;
}

/** `meta` is one page, in which the value follows its key. */
function findDigest(path: string): Place {
  const db = sqlite.openImmutable(path);
  let digest: string;
  let rootPage: number;
  try {
    digest = readDigest(db);
    const sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'meta'";
    rootPage = db.prepare<{ rootpage: number }>(sql).get()?.rootpage ?? 0;
  } finally {
    db.close();
  }
  const file = openSync(path, "r");
  try {
    const start = Buffer.alloc(HEADER_BYTES);
    readSync(file, start, 0, start.length, 0);
    const header = parseHeader(start);
    if (!header) throw new Error("the header is damaged");
    const page = Buffer.alloc(header.pageSize);
    const pageAt = (rootPage - 1) * header.pageSize;
    readSync(file, page, 0, page.length, pageAt);
    const at = page.indexOf(`digest${digest}`);
    if (at < 0) throw new Error("the digest is missing");
    return { digest, at: pageAt + at + "digest".length, header };
  } finally {
    closeSync(file);
  }
}

function digestOf(
  file: number,
  place: Place,
  visit: (chunk: Buffer, at: number) => void = () => {},
): string {
  const hash = createHash("sha256");
  const { size } = fstatSync(file);
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (let at = 0; at < size; ) {
    const bytes = chunk.subarray(0, readSync(file, chunk, 0, CHUNK_BYTES, at));
    if (bytes.length === 0) break;
    visit(bytes, at);
    // Pages are whole in a chunk, and so is the digest.
    if (place.at >= at && place.at < at + bytes.length) bytes.write(UNSEALED, place.at - at);
    hash.update(bytes);
    at += bytes.length;
  }
  return hash.digest("hex");
}

function clearPages(chunk: Buffer, at: number, header: FileHeader): boolean {
  const { pageSize } = header;
  let found = false;
  for (let from = 0; from < chunk.length; from += pageSize) {
    const number = (at + from) / pageSize + 1;
    found = clearUnused(chunk.subarray(from, from + pageSize), number, header) || found;
  }
  return found;
}
