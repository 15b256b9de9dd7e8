/** Clears the space that pages of the database do not use, where SQLite leaves what it has moved. */

/** SQLite's default, which no snapshot changes. */
const PAGE_BYTES = 4096;
/** The types of B-tree pages, and the lengths of their headers. */
const btreeHeaders: Record<number, number> = { 2: 12, 5: 12, 10: 8, 13: 8 };
const zeros = Buffer.alloc(PAGE_BYTES);

/**
 * Fills the space between the cell pointers and the cells of each B-tree page with zeros, because
 * SQLite leaves copies of moved rows there, even with `secure_delete`. `pages` begins with
 * `fileHeaderBytes` of another kind. Returns whether anything has changed.
 */
export function clearUnused(pages: Uint8Array, fileHeaderBytes: number): boolean {
  let hasChanged = false;
  for (let at = 0; at < pages.length; at += PAGE_BYTES) {
    const page = Buffer.from(pages.buffer, pages.byteOffset + at, PAGE_BYTES);
    const start = at === 0 ? fileHeaderBytes : 0;
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
