/**
 * Writes posting lists that are in order into FTS5's own tables, as the one segment that its "optimize"
 * would leave: FTS5 takes ten times as long to find that order itself. The format is that of SQLite's
 * ext/fts5/fts5_index.c; SQLite checks it after each import.
 */
import type { PostingList } from "../../search/posting-lists.ts";
import type { Sqlite } from "../../sqlite/driver.ts";

/** As FTS5's own, so that each fits on a page of SQLite. */
const PAGE_BYTES = 4050;
/** Two numbers: where the first rank of a list that goes on here is, and where the terms' offsets are. */
const HEAD_BYTES = 4;
/** A list that goes on over so many pages before another term comes gets a skip page. */
const MIN_SKIPPED = 4;
/** Terms of the main index, which is the only one here, begin with a 0. */
const MAIN_INDEX = 0x30;

// The keys of FTS5's blocks: the totals, the structure, and the pages of the segment, which is number 1.
const TOTALS = 1;
const STRUCTURE = 10;
const PAGES = 2 ** 37;
const SKIP_PAGES = PAGES + 2 ** 36;

/** The lists of `table`, an FTS5 table with `detail=none`, must be empty. */
export function createSegment(db: Sqlite, table: string) {
  const addBlock = db.prepare(`INSERT OR REPLACE INTO ${table}_data VALUES (?, ?)`);
  const addTerm = db.prepare(`INSERT INTO ${table}_idx VALUES (1, ?, CAST(? AS INTEGER))`);
  const page = createBytes();
  /** Of the terms on the page, each from the one before. */
  const offsets = createBytes();
  let number = 1;
  let lastOffset = 0;
  const term = createBytes();
  /** The last page with a term: its number, and what tells its first term from the one before. */
  let termPage = 1;
  let separator = new Uint8Array();
  /** The first ranks on the pages after it. */
  let firstRanks: number[] = [];
  let entries = 0;
  page.size = HEAD_BYTES;

  function finishPage(): void {
    putUint16(page, 2, page.size);
    append(page, offsets.bytes, 0, offsets.size);
    addBlock.run(PAGES + number, taken(page));
    number++;
    page.bytes.fill(0, 0, HEAD_BYTES);
    page.size = HEAD_BYTES;
    offsets.size = 0;
    lastOffset = 0;
  }

  /** Ends the pages that are found by the first term on the first of them. */
  function finishTermPage(): void {
    // A last one may have a term again.
    const pagesWithoutTerm = number - termPage - 1;
    const hasSkips = pagesWithoutTerm >= MIN_SKIPPED && writeSkipPage();
    addTerm.run(separator, 2 * termPage + Number(hasSkips));
    firstRanks = [];
  }

  /**
   * Writes where ranks go on: the first of each page after the one with the term. Returns false, and FTS5
   * reads from the beginning, where there are none or more than fit: some two thousand pages.
   */
  function writeSkipPage(): boolean {
    if (firstRanks.length === 0) return false;
    const skip = createBytes();
    putVarint(skip, 0); // nothing comes before this page
    putVarint(skip, termPage + 1);
    let last = 0;
    for (const rank of firstRanks) {
      if (skip.size >= PAGE_BYTES) return false;
      putVarint(skip, rank - last);
      last = rank;
    }
    addBlock.run(SKIP_PAGES + termPage, taken(skip));
    return true;
  }

  function startTerm({ ngram, ngramBytes }: PostingList): void {
    const shared = sharedBytes(term, ngram, ngramBytes);
    if (page.size + offsets.size + ngramBytes + 3 >= PAGE_BYTES) finishPage();
    const isFirst = offsets.size === 0;
    putVarint(offsets, page.size - lastOffset);
    lastOffset = page.size;
    if (isFirst && number > 1) finishTermPage();
    term.size = 0;
    term.bytes[term.size++] = MAIN_INDEX;
    append(term, ngram, 0, ngramBytes);
    if (isFirst) {
      separator = number === 1 ? new Uint8Array() : term.bytes.slice(0, shared + 1);
      termPage = number;
    } else putVarint(page, shared);
    const from = isFirst ? 0 : shared;
    putVarint(page, term.size - from);
    append(page, term.bytes, from, term.size);
  }

  return {
    /** In the order of the n-grams' UTF-8. */
    add(list: PostingList): void {
      startTerm(list);
      entries += list.count;
      let last = 0;
      for (let at = 0; at < list.size; at++) {
        const rank = list.ranks[at] ?? 0;
        if (page.size === HEAD_BYTES) {
          // The list goes on here.
          putUint16(page, 0, HEAD_BYTES);
          firstRanks.push(rank);
          last = 0;
        }
        putVarint(page, rank - last);
        last = rank;
        if (page.size + offsets.size >= PAGE_BYTES) finishPage();
      }
    },
    /** After the last list; `names` is how many names are in them. */
    finish(names: number): void {
      if (page.size > HEAD_BYTES) finishPage();
      const pages = number - 1;
      const totals = createBytes();
      putVarint(totals, names);
      putVarint(totals, entries);
      addBlock.run(TOTALS, taken(totals));
      if (pages === 0) return;
      finishTermPage();
      const structure = createBytes();
      structure.size = 4; // the version of the settings, which are FTS5's own
      // One level with one segment, written in so many pages; of that level nothing is being merged.
      for (const value of [1, 1, pages, 0, 1, 1, 1, pages]) putVarint(structure, value);
      addBlock.run(STRUCTURE, taken(structure));
    },
  };
}

interface Bytes {
  bytes: Uint8Array;
  size: number;
}

function createBytes(): Bytes {
  return { bytes: new Uint8Array(2 * PAGE_BYTES), size: 0 };
}

function taken({ bytes, size }: Bytes): Uint8Array {
  return bytes.subarray(0, size);
}

function append(target: Bytes, source: Uint8Array, from: number, to: number): void {
  for (let at = from; at < to; at++) target.bytes[target.size++] = source[at] ?? 0;
}

function putUint16({ bytes }: Bytes, at: number, value: number): void {
  bytes[at] = value >> 8;
  bytes[at + 1] = value;
}

/** SQLite's: seven bits a byte, the highest first, the eighth bit set on all but the last. */
function putVarint(target: Bytes, value: number): void {
  let bytes = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes++;
  let rest = value;
  for (let at = target.size + bytes - 1; at >= target.size; at--) {
    target.bytes[at] = (rest % 0x80) + 0x80;
    rest = Math.floor(rest / 0x80);
  }
  target.size += bytes;
  target.bytes[target.size - 1] = value % 0x80;
}

/** How many bytes a term begins with that the one of an n-gram does, too. */
function sharedBytes(term: Bytes, ngram: Uint8Array, ngramBytes: number): number {
  if (term.size === 0) return 0;
  let at = 0;
  while (at < ngramBytes && at + 1 < term.size && ngram[at] === term.bytes[at + 1]) at++;
  return at + 1;
}
