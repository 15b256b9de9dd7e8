/**
 * Writes sorted posting lists directly to FTS5's own tables, ten times as fast as FTS5 would. The
 * format is defined by ext/fts5/fts5_index.c in SQLite's source code.
 */
import type { Sqlite } from "../sqlite/driver.ts";
import type { PostingList } from "./posting-lists.ts";

/** FTS5's default page size. An FTS5 page of this size fits on one page of the database file. */
const PAGE_BYTES = 4050;
/** Two offsets: of the first document id of the list continued here, and of the term index. */
const HEADER_BYTES = 4;
/** Every term starts with this character, which means FTS5's main index. */
const MAIN_INDEX = "0";

// The row ids of FTS5's blocks. The id of a page of segment 1 is PAGES plus the page's number.
const TOTALS = 1;
const STRUCTURE = 10;
const PAGES = 2 ** 37;

/** Writes posting lists to an empty FTS5 table that has `detail=none`. */
export function createSegmentWriter(db: Sqlite, table: string) {
  const addBlock = db.prepare(`INSERT OR REPLACE INTO ${table}_data VALUES (?, ?)`);
  const addTermPage = db.prepare(`INSERT INTO ${table}_idx VALUES (1, ?, CAST(? AS INTEGER))`);
  const page = new ByteWriter();
  /** The offset of each term on the page, stored as the distance from the previous term. */
  const offsets = new ByteWriter();
  let pageNumber = 1;
  let lastOffset = 0;
  let term = new ByteWriter();
  let lastTerm = new ByteWriter();
  let entries = 0;
  page.size = HEADER_BYTES;

  function startTerm(text: string): void {
    [term, lastTerm] = [lastTerm, term];
    term.size = term.bytes.write(text);
    let shared = 0;
    while (shared < lastTerm.size && term.bytes[shared] === lastTerm.bytes[shared]) shared++;
    if (page.size + offsets.size + term.size + 2 >= PAGE_BYTES) finishPage();
    const isFirst = offsets.size === 0;
    // The shortest prefix that sorts after the term before it separates this page from the last. An
    // odd number would mean that the last list on the page has an index for skipping pages. No list
    // is long enough to gain from that, because the longest ones are not in FTS5.
    if (isFirst) addTermPage.run(term.bytes.subarray(0, shared + 1), 2 * pageNumber);
    offsets.addVarint(page.size - lastOffset);
    lastOffset = page.size;
    if (!isFirst) page.addVarint(shared);
    const from = isFirst ? 0 : shared;
    page.addVarint(term.size - from);
    page.append(term, from);
  }

  function finishPage(): void {
    page.bytes.writeUInt16BE(page.size, 2);
    page.append(offsets);
    addBlock.run(PAGES + pageNumber, page.written());
    pageNumber++;
    page.bytes.fill(0, 0, HEADER_BYTES);
    page.size = HEADER_BYTES;
    offsets.size = 0;
    lastOffset = 0;
  }

  return {
    /** Lists must be added in the UTF-8 order of their n-grams. */
    add({ ngram, docIds, size, count }: PostingList): void {
      startTerm(MAIN_INDEX + ngram);
      entries += count;
      let last = 0;
      for (let at = 0; at < size; at++) {
        const docId = docIds[at] ?? 0;
        if (page.size === HEADER_BYTES) {
          // The page is empty, so the list continues on it from the previous page.
          page.bytes.writeUInt16BE(HEADER_BYTES, 0);
          last = 0;
        }
        page.addVarint(docId - last);
        last = docId;
        if (page.size + offsets.size >= PAGE_BYTES) finishPage();
      }
    },

    /** Must be called after the last list. `names` is the number of all indexed names. */
    finish(names: number): void {
      if (page.size > HEADER_BYTES) finishPage();
      const pages = pageNumber - 1;
      const totals = new ByteWriter();
      totals.addVarint(names);
      totals.addVarint(entries);
      addBlock.run(TOTALS, totals.written());
      if (pages === 0) return;
      const structure = new ByteWriter();
      structure.size = 4; // the version of the settings: 0 for FTS5's defaults
      // One segment with this many pages, on a single level, with no merge in progress.
      for (const value of [1, 1, pages, 0, 1, 1, 1, pages]) structure.addVarint(value);
      addBlock.run(STRUCTURE, structure.written());
    },
  };
}

/** After a "secure-delete" of a page's first term, FTS5 keeps a prefix of it as the separator. */
export function renewSeparators(db: Sqlite, table: string): void {
  const pages = db
    .prepare<{ segid: number; separator: Uint8Array; pgno: number; page: Uint8Array }>(
      `SELECT segid, CAST(term AS BLOB) AS separator, pgno, block AS page
        FROM ${table}_idx JOIN ${table}_data ON id = segid * ${PAGES} + pgno / 2`,
    )
    .all();
  const renew = db.prepare(
    `UPDATE ${table}_idx SET term = ? WHERE segid = ? AND CAST(term AS BLOB) = ? AND pgno = ?`,
  );
  for (const { segid, separator, pgno, page } of pages) {
    const bytes = Buffer.from(page);
    // The term index begins after the lists, with the offset of the first term.
    const [offset] = readVarint(bytes, bytes.readUInt16BE(2));
    const [length, at] = readVarint(bytes, offset);
    const first = bytes.subarray(at, at + length);
    // The term itself sorts after the term before it, too.
    if (!first.subarray(0, separator.length).equals(separator)) {
      renew.run(first, segid, separator, pgno);
    }
  }
}

/** Page offsets and term lengths take at most two bytes. */
function readVarint(bytes: Buffer, at: number): [value: number, end: number] {
  const [first = 0, second = 0] = bytes.subarray(at, at + 2);
  return first < 0x80 ? [first, at + 1] : [(first - 0x80) * 0x80 + second, at + 2];
}

class ByteWriter {
  readonly bytes = Buffer.alloc(2 * PAGE_BYTES);
  size = 0;

  written(): Uint8Array {
    return this.bytes.subarray(0, this.size);
  }

  append(source: ByteWriter, from = 0): void {
    this.size += source.bytes.copy(this.bytes, this.size, from, source.size);
  }

  /** Seven bits per byte, the high bits first. Only the last byte is below 0x80. */
  addVarint(value: number): void {
    let unit = 1;
    while (value >= unit * 0x80) unit *= 0x80;
    for (; unit > 1; unit /= 0x80) this.bytes[this.size++] = 0x80 | ((value / unit) % 0x80);
    this.bytes[this.size++] = value % 0x80;
  }
}
