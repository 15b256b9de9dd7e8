/**
 * Writes sorted posting lists directly to FTS5's own tables, ten times as fast as FTS5 would. The
 * format is defined by ext/fts5/fts5_index.c in SQLite's source code.
 */
import type { PostingList } from "../../search/posting-lists.ts";
import type { Sqlite, Statement } from "../../sqlite/driver.ts";

/** FTS5's default page size. An FTS5 page of this size fits on one page of the database file. */
const PAGE_BYTES = 4050;
/** Two offsets: of the first document id of the list continued here, and of the term index. */
const HEADER_BYTES = 4;
/** The first byte of every term means FTS5's main index. */
const MAIN_INDEX = 0x30;

// The row ids of FTS5's blocks. The id of a page of segment 1 is PAGES plus the page's number.
const TOTALS = 1;
const STRUCTURE = 10;
const PAGES = 2 ** 37;

/** Writes posting lists to an empty FTS5 table that has `detail=none`. */
export class SegmentWriter {
  readonly #addBlock: Statement<unknown>;
  readonly #addTerm: Statement<unknown>;
  readonly #page = new ByteWriter();
  /** The offset of each term on the page, stored as the distance from the previous term. */
  readonly #offsets = new ByteWriter();
  readonly #term = new ByteWriter();
  #pageNumber = 1;
  #lastOffset = 0;
  /** The last page with a term. */
  #termPage = 1;
  /** The shortest prefix of that page's first term that sorts after the term before it. */
  #separator = new Uint8Array();
  #entries = 0;

  constructor(db: Sqlite, table: string) {
    this.#addBlock = db.prepare(`INSERT OR REPLACE INTO ${table}_data VALUES (?, ?)`);
    this.#addTerm = db.prepare(`INSERT INTO ${table}_idx VALUES (1, ?, CAST(? AS INTEGER))`);
    this.#page.size = HEADER_BYTES;
  }

  /** Lists must be added in the UTF-8 order of their n-grams. */
  add(list: PostingList): void {
    this.#startTerm(list);
    this.#entries += list.count;
    const page = this.#page;
    const offsets = this.#offsets;
    let last = 0;
    for (let at = 0; at < list.size; at++) {
      const docId = list.docIds[at] ?? 0;
      if (page.size === HEADER_BYTES) {
        // The page is empty, so the list continues on it from the previous page.
        page.putUint16(0, HEADER_BYTES);
        last = 0;
      }
      page.addVarint(docId - last);
      last = docId;
      if (page.size + offsets.size >= PAGE_BYTES) this.#finishPage();
    }
  }

  /** Must be called after the last list. `names` is the number of all indexed names. */
  finish(names: number): void {
    if (this.#page.size > HEADER_BYTES) this.#finishPage();
    const pages = this.#pageNumber - 1;
    const totals = new ByteWriter();
    totals.addVarint(names);
    totals.addVarint(this.#entries);
    this.#addBlock.run(TOTALS, totals.written());
    if (pages === 0) return;
    this.#finishTermPage();
    const structure = new ByteWriter();
    structure.size = 4; // the version of the settings: 0 for FTS5's defaults
    // One segment with this many pages, on a single level, with no merge in progress.
    for (const value of [1, 1, pages, 0, 1, 1, 1, pages]) structure.addVarint(value);
    this.#addBlock.run(STRUCTURE, structure.written());
  }

  #startTerm({ ngram, ngramBytes }: PostingList): void {
    const page = this.#page;
    const offsets = this.#offsets;
    const term = this.#term;
    let shared = term.size === 0 ? 0 : 1;
    while (shared < term.size && shared <= ngramBytes && ngram[shared - 1] === term.bytes[shared]) {
      shared++;
    }
    if (page.size + offsets.size + ngramBytes + 3 >= PAGE_BYTES) this.#finishPage();
    const isFirst = offsets.size === 0;
    offsets.addVarint(page.size - this.#lastOffset);
    this.#lastOffset = page.size;
    if (isFirst && this.#pageNumber > 1) this.#finishTermPage();
    term.size = 0;
    term.bytes[term.size++] = MAIN_INDEX;
    term.append(ngram, 0, ngramBytes);
    if (isFirst) {
      const isFirstPage = this.#pageNumber === 1;
      this.#separator = isFirstPage ? new Uint8Array() : term.bytes.slice(0, shared + 1);
      this.#termPage = this.#pageNumber;
    } else page.addVarint(shared);
    const from = isFirst ? 0 : shared;
    page.addVarint(term.size - from);
    page.append(term.bytes, from, term.size);
  }

  #finishPage(): void {
    const page = this.#page;
    const offsets = this.#offsets;
    page.putUint16(2, page.size);
    page.append(offsets.bytes, 0, offsets.size);
    this.#addBlock.run(PAGES + this.#pageNumber, page.written());
    this.#pageNumber++;
    page.bytes.fill(0, 0, HEADER_BYTES);
    page.size = HEADER_BYTES;
    offsets.size = 0;
    this.#lastOffset = 0;
  }

  #finishTermPage(): void {
    // An odd number would mean that the last list on the page has an index for skipping pages. No
    // list is long enough to gain from that, because the longest ones are not in FTS5.
    this.#addTerm.run(this.#separator, 2 * this.#termPage);
  }
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
  readonly bytes = new Uint8Array(2 * PAGE_BYTES);
  size = 0;

  written(): Uint8Array {
    return this.bytes.subarray(0, this.size);
  }

  append(source: Uint8Array, from: number, to: number): void {
    for (let at = from; at < to; at++) this.bytes[this.size++] = source[at] ?? 0;
  }

  putUint16(at: number, value: number): void {
    this.bytes[at] = value >> 8;
    this.bytes[at + 1] = value;
  }

  /** Seven bits per byte, the high bits first. Only the last byte is below 0x80. */
  addVarint(value: number): void {
    let bytes = 1;
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes++;
    let rest = value;
    for (let at = this.size + bytes - 1; at >= this.size; at--) {
      this.bytes[at] = (rest % 0x80) + 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.size += bytes;
    this.bytes[this.size - 1] = value % 0x80;
  }
}
