/**
 * Writes sorted posting lists directly to FTS5's own tables, ten times as fast as FTS5 would. The
 * format is defined by ext/fts5/fts5_index.c in SQLite's source code.
 */
import type { Sqlite, Statement } from "../sqlite/driver.ts";
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
export class SegmentWriter {
  readonly #addBlock: Statement<unknown>;
  readonly #addTermPage: Statement<unknown>;
  readonly #page = new ByteWriter();
  /** The offset of each term on the page, stored as the distance from the previous term. */
  readonly #offsets = new ByteWriter();
  #pageNumber = 1;
  #lastOffset = 0;
  #term = new ByteWriter();
  #lastTerm = new ByteWriter();
  #entries = 0;

  constructor(db: Sqlite, table: string) {
    this.#addBlock = db.prepare(`INSERT OR REPLACE INTO ${table}_data VALUES (?, ?)`);
    this.#addTermPage = db.prepare(`INSERT INTO ${table}_idx VALUES (1, ?, CAST(? AS INTEGER))`);
    this.#page.size = HEADER_BYTES;
  }

  /** Lists must be added in the UTF-8 order of their n-grams. */
  add({ ngram, docIds, size, count }: PostingList): void {
    this.#startTerm(MAIN_INDEX + ngram);
    this.#entries += count;
    const page = this.#page;
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
      if (page.size + this.#offsets.size >= PAGE_BYTES) this.#finishPage();
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
    const structure = new ByteWriter();
    structure.size = 4; // the version of the settings: 0 for FTS5's defaults
    // One segment with this many pages, on a single level, with no merge in progress.
    for (const value of [1, 1, pages, 0, 1, 1, 1, pages]) structure.addVarint(value);
    this.#addBlock.run(STRUCTURE, structure.written());
  }

  #startTerm(text: string): void {
    const page = this.#page;
    const offsets = this.#offsets;
    [this.#term, this.#lastTerm] = [this.#lastTerm, this.#term];
    const term = this.#term;
    const last = this.#lastTerm;
    term.size = term.bytes.write(text);
    let shared = 0;
    while (shared < last.size && term.bytes[shared] === last.bytes[shared]) shared++;
    if (page.size + offsets.size + term.size + 2 >= PAGE_BYTES) this.#finishPage();
    const isFirst = offsets.size === 0;
    if (isFirst) {
      // The shortest prefix that sorts after the term before it separates this page from the last.
      const separator =
        this.#pageNumber === 1 ? new Uint8Array() : term.bytes.subarray(0, shared + 1);
      // An odd number would mean that the last list on the page has an index for skipping pages. No
      // list is long enough to gain from that, because the longest ones are not in FTS5.
      this.#addTermPage.run(separator, 2 * this.#pageNumber);
    }
    offsets.addVarint(page.size - this.#lastOffset);
    this.#lastOffset = page.size;
    if (!isFirst) page.addVarint(shared);
    const from = isFirst ? 0 : shared;
    page.addVarint(term.size - from);
    page.append(term, from);
  }

  #finishPage(): void {
    const page = this.#page;
    page.bytes.writeUInt16BE(page.size, 2);
    page.append(this.#offsets);
    this.#addBlock.run(PAGES + this.#pageNumber, page.written());
    this.#pageNumber++;
    page.bytes.fill(0, 0, HEADER_BYTES);
    page.size = HEADER_BYTES;
    this.#offsets.size = 0;
    this.#lastOffset = 0;
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
