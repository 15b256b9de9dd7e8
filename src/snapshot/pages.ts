/**
 * The pages of a SQLite file, as https://www.sqlite.org/fileformat.html lays them out: only as much
 * as it takes to tell the bytes that hold something from those that hold nothing.
 */

export const HEADER_BYTES = 100;

export interface FileHeader {
  pageSize: number;
  pageCount: number;
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
    userVersion: view.getUint32(60),
    applicationId: view.getUint32(68),
  };
}

/** First bytes of the b-tree pages: inner and leaf, of indexes and of tables. */
const headerLengths: Record<number, number> = { 2: 12, 5: 12, 10: 8, 13: 8 };

/**
 * Zeroes what no cell of a b-tree page uses; returns whether anything was there. SQLite moves cells
 * and leaves their bytes behind, so a row that is deleted later would be in the file still, in spite
 * of `secure_delete`. The other kinds of page begin with the number of a page, whose first byte is
 * zero in any file below 64 GB, and hold no bytes of deleted rows with `secure_delete`.
 */
export function clearUnused(page: Uint8Array, isFirst: boolean): boolean {
  const start = isFirst ? HEADER_BYTES : 0;
  const headerLength = headerLengths[page[start] ?? 0];
  if (headerLength === undefined) return false;
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

function clear(page: Uint8Array, from: number, to: number): boolean {
  const bytes = page.subarray(from, to);
  if (bytes.every((byte) => byte === 0)) return false;
  bytes.fill(0);
  return true;
}
