/**
 * Stores the long posting lists in a table with one row per block of document ids: as a bitmap or,
 * if the block has few, as the distances between them, in one or two bytes each.
 */
import type { Sqlite } from "../sqlite/driver.ts";
import type { NameKind } from "./tables.ts";
import { LONG_SHARE } from "./tuning.ts";

/** The number of document ids per block. A row with a block's bitmap just fits a 4096-byte page. */
export const BLOCK_DOCS = 32_256;

const BITMAP_BYTES = BLOCK_DOCS / 8;

/**
 * Two larger blocks would not fit on one page, so a bitmap takes no more space, and it needs no
 * decoding.
 */
const MAX_DISTANCES_BYTES = BITMAP_BYTES / 2;

/** Rows are ordered by block and then by list, so changes in rank order take a single pass. */
const MAX_LISTS = 2 ** 20;
const rowIdOf = (list: number, block: number) => block * MAX_LISTS + list;
const blockOf = (docId = 0) => Math.floor(docId / BLOCK_DOCS);

export const isLong = (count: number, names: number, share = LONG_SHARE) => count > names / share;

/** Returns a function that writes a list and returns its number. */
export function createLongListWriter(db: Sqlite, kind: NameKind) {
  const insert = db.prepare(`INSERT INTO ${kind}_long_list (id, ranks) VALUES (?, ?)`);
  let lists = 0;
  return (docIds: Uint32Array): number => {
    const list = lists++;
    for (let from = 0, to = 0; from < docIds.length; from = to) {
      const block = blockOf(docIds[from]);
      while (to < docIds.length && blockOf(docIds[to]) === block) to++;
      insert.run(rowIdOf(list, block), encodeBlock(docIds.subarray(from, to)));
    }
    return list;
  };
}

export function openLongLists(db: Sqlite, kind: NameKind) {
  const read = openBlocks(db, kind);
  const findLast = db.prepare<{ id: number | null }>(`SELECT max(id) AS id FROM ${kind}_long_list`);
  const blocks = Math.floor((findLast.get()?.id ?? 0) / MAX_LISTS) + 1;

  function* intersectWith(first: (block: number) => Uint32Array | undefined, others: number[]) {
    for (let block = 0; block < blocks; block++) {
      const bits = first(block);
      if (!bits) continue;
      const disjoint = others.findIndex((list) => {
        const other = read(list, block);
        return !other || !intersect(bits, other);
      });
      if (disjoint < 0) for (const offset of listBits(bits)) yield block * BLOCK_DOCS + offset;
      // This list probably rules out the next block too.
      else others.unshift(...others.splice(disjoint, 1));
    }
  }

  return {
    /** Yields the ascending document ids that all lists contain. Pass the shortest list first. */
    intersect: ([first = 0, ...others]: number[]) =>
      intersectWith((block) => read(first, block), others),
    /** Yields each of the ascending `docIds` that all lists contain. */
    filter(docIds: number[], lists: number[]): Generator<number, void> {
      const byBlock = Map.groupBy(docIds, blockOf);
      const bitsOf = (block: number) => {
        const docIds = byBlock.get(block);
        return docIds && toBitmap(docIds);
      };
      return intersectWith(bitsOf, [...lists]);
    },
  };
}

/** Changes long lists in rank order. */
export function openLongListChanges(db: Sqlite, kind: NameKind) {
  const read = openBlocks(db, kind);
  const write = db.prepare(`INSERT OR REPLACE INTO ${kind}_long_list (id, ranks) VALUES (?, ?)`);
  const remove = db.prepare(`DELETE FROM ${kind}_long_list WHERE id = ?`);
  /** The current block of each list that has changes in that block. */
  const changed = new Map<number, Uint32Array>();
  let block = 0;
  function finish(): void {
    for (const [list, bits] of changed) {
      const docIds = Uint32Array.from(listBits(bits));
      if (docIds.length > 0) write.run(rowIdOf(list, block), encodeBlock(docIds));
      else remove.run(rowIdOf(list, block));
    }
    changed.clear();
  }
  return {
    /** Adds a rank to a list or removes it. */
    set(list: number, rank: number, isListed: boolean): void {
      if (blockOf(rank) !== block) finish();
      block = blockOf(rank);
      const bits = changed.get(list) ?? read(list, block) ?? toBitmap([]);
      setBit(bits, rank % BLOCK_DOCS, isListed);
      changed.set(list, bits);
    },
    finish,
  };
}

function openBlocks(db: Sqlite, kind: NameKind) {
  const find = db.prepare<{ ranks: Uint8Array }>(
    `SELECT ranks FROM ${kind}_long_list WHERE id = ?`,
  );
  return (list: number, block: number): Uint32Array | undefined => {
    const row = find.get(rowIdOf(list, block));
    return row ? decodeBlock(row.ranks) : undefined;
  };
}

/** Encodes ascending document ids that are all of the same block. */
function encodeBlock(docIds: Uint32Array): Uint8Array {
  const distances = new Uint8Array(2 * docIds.length);
  let size = 0;
  let last = 0;
  for (let at = 0; at < docIds.length; at++) {
    const offset = (docIds[at] ?? 0) % BLOCK_DOCS;
    const distance = offset - last;
    if (distance >= 0x80) distances[size++] = 0x80 | (distance >> 8);
    distances[size++] = distance;
    last = offset;
  }
  if (size > MAX_DISTANCES_BYTES) return new Uint8Array(toBitmap(docIds).buffer);
  return distances.subarray(0, size);
}

function decodeBlock(bytes: Uint8Array): Uint32Array {
  // Copied, because the bytes may not be aligned.
  if (bytes.length === BITMAP_BYTES) return new Uint32Array(new Uint8Array(bytes).buffer);
  const bitmap = toBitmap([]);
  let offset = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    offset += byte < 0x80 ? byte : ((byte & 0x7f) << 8) | (bytes[++at] ?? 0);
    setBit(bitmap, offset);
  }
  return bitmap;
}

function setBit(bits: Uint32Array, at: number, isSet = true): void {
  const bit = 1 << (at & 31);
  const word = bits[at >> 5] ?? 0;
  bits[at >> 5] = isSet ? word | bit : word & ~bit;
}

/** Returns the bitmap of document ids that are all of the same block. */
function toBitmap(docIds: ArrayLike<number>): Uint32Array {
  const bitmap = new Uint32Array(BITMAP_BYTES / 4);
  for (let at = 0; at < docIds.length; at++) setBit(bitmap, (docIds[at] ?? 0) % BLOCK_DOCS);
  return bitmap;
}

/** Clears every bit in `bits` that is not set in `other`. Returns whether any bit is still set. */
function intersect(bits: Uint32Array, other: Uint32Array): boolean {
  let left = 0;
  for (let at = 0; at < bits.length; at++) {
    left |= bits[at] = (bits[at] ?? 0) & (other[at] ?? 0);
  }
  return left !== 0;
}

function* listBits(bits: Uint32Array): Generator<number, void> {
  for (let at = 0; at < bits.length; at++) {
    for (let word = bits[at] ?? 0; word !== 0; word &= word - 1) {
      yield 32 * at + 31 - Math.clz32(word & -word);
    }
  }
}
