/**
 * The pages of a SQLite file, as https://www.sqlite.org/fileformat.html lays them out: only as much
 * as it takes to tell the bytes that hold something from those that hold nothing.
 */

export const HEADER_BYTES = 100;

export interface FileHeader {
  pageSize: number;
  pageCount: number;
  /** Some pages are maps of the others, because of `auto_vacuum`. */
  hasMaps: boolean;
  userVersion: number;
  applicationId: number;
}

/** The header of a SQLite file; undefined when the bytes do not begin one. */
export function parseHeader(bytes: Uint8Array): FileHeader | undefined {
  if (bytes.length < HEADER_BYTES) return undefined;
  if (Buffer.from(bytes.subarray(0, 16)).toString("latin1") !== "SQLite format 3\0")
    return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES);
  const pageSize = view.getUint16(16);
  return {
    pageSize: pageSize === 1 ? 65_536 : pageSize,
    pageCount: view.getUint32(28),
    hasMaps: view.getUint32(52) !== 0,
    userVersion: view.getUint32(60),
    applicationId: view.getUint32(68),
  };
}

/** First bytes of the b-tree pages: inner and leaf, of indexes and of tables. */
const headerLengths: Record<number, number> = { 2: 12, 5: 12, 10: 8, 13: 8 };

/**
 * Zeroes what no cell of page `number` (from 1) uses, if it is a b-tree page; returns whether anything
 * was there. SQLite moves cells and leaves their bytes behind, so a row that is deleted later would
 * be in the file still, in spite of `secure_delete`. The other kinds of page begin with the number of
 * a page, whose first byte is zero in any file below 64 GB, or are maps of pages; with
 * `secure_delete` they hold no bytes of deleted rows.
 */
export function clearUnused(page: Uint8Array, number: number, header: FileHeader): boolean {
  const start = number === 1 ? HEADER_BYTES : 0;
  const headerLength = headerLengths[page[start] ?? 0];
  if (headerLength === undefined || isMap(number, header)) return false;
  const view = new DataView(page.buffer, page.byteOffset, page.length);
  const cellsEnd = start + headerLength + 2 * view.getUint16(start + 3);
  const contentStart = view.getUint16(start + 5) || 65_536;
  let found = clear(page, cellsEnd, contentStart);
  for (let block = view.getUint16(start + 1); block !== 0 && block < page.length - 3; ) {
    found = clear(page, block + 4, block + view.getUint16(block + 2)) || found;
    const next = view.getUint16(block);
    if (next <= block) break;
    block = next;
  }
  return found;
}

/** One map has five bytes for each page that follows it; the first is page 2. */
function isMap(number: number, { hasMaps, pageSize }: FileHeader): boolean {
  if (!hasMaps || number < 2) return false;
  const distance = (number - 2) % (Math.floor(pageSize / 5) + 1);
  // SQLite keeps the page at 1 GB free for its locks; a map that would be there comes after it.
  const lockPage = 2 ** 30 / pageSize + 1;
  return distance === 0 || (distance === 1 && number - 1 === lockPage);
}

function clear(page: Uint8Array, from: number, to: number): boolean {
  const bytes = page.subarray(from, to);
  if (bytes.every((byte) => byte === 0)) return false;
  bytes.fill(0);
  return true;
}
