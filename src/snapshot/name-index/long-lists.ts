/**
 * The long posting lists: those of n-grams that are in more than a small share of all names. They are not
 * in FTS5 but in blocks of ranks, one row each: several of them are intersected block by block, and
 * a block in which the first ones do not meet is not read of the others.
 */
import {
  type Bits,
  BLOCK_RANKS,
  changeBit,
  decodeBlock,
  emptyBlock,
  encodeBlock,
  intersect,
  listBits,
} from "../../search/posting-block.ts";
import type { PostingList } from "../../search/posting-lists.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import type { NameKind } from "./build.ts";

/** A list is long when it has more than one in so many of the names. */
export const LONG_SHARE = 512;

/** Rows are in order of block, then of list: so they are written in order, too. */
const MAX_LISTS = 2 ** 20;
const idOf = (list: number, block: number) => block * MAX_LISTS + list;

export const isLong = (count: number, names: number, share = LONG_SHARE) => count > names / share;

/**
 * A list with one in so many names or more is numbered before all others: the rows that take a page each
 * come after another, and of none is half a page lost.
 */
const FULL_SHARE = 16;
const FIRST_SPARSE = MAX_LISTS / 2;

/** Writes a list; returns its number. */
export function createLongListWriter(db: Sqlite, kind: NameKind, names: number) {
  const insert = db.prepare(`INSERT INTO ${kind}_long_list (id, ranks) VALUES (?, ?)`);
  let full = 0;
  let sparse = FIRST_SPARSE;
  return ({ ranks, size }: Pick<PostingList, "ranks" | "size">): number => {
    const list = size >= names / FULL_SHARE ? full++ : sparse++;
    let block = 0;
    const offsets: number[] = [];
    const write = () => {
      if (offsets.length > 0) insert.run(idOf(list, block), encodeBlock(offsets));
      offsets.length = 0;
    };
    for (let at = 0; at < size; at++) {
      const rank = ranks[at] ?? 0;
      const next = Math.floor(rank / BLOCK_RANKS);
      if (next !== block) write();
      block = next;
      offsets.push(rank % BLOCK_RANKS);
    }
    write();
    return list;
  };
}

export interface LongLists {
  /**
   * The ranks that are in all the lists, ascending; with `among`, of those ranks alone. The lists
   * are read in the order given: the shortest had better be the first.
   */
  intersect(lists: number[], among?: Iterable<number>): Generator<number, void>;
}

export function openLongLists(db: Sqlite, kind: NameKind): LongLists {
  const findBlock = db.prepare<{ ranks: Uint8Array }>(
    `SELECT ranks FROM ${kind}_long_list WHERE id = ?`,
  );
  const last = db
    .prepare<{ id: number | null }>(`SELECT max(id) AS id FROM ${kind}_long_list`)
    .get();
  const blocks = Math.floor((last?.id ?? 0) / MAX_LISTS) + 1;

  function read(list: number, block: number): Bits | undefined {
    const row = findBlock.get(idOf(list, block));
    return row && decodeBlock(row.ranks);
  }

  function* readAll(list: number): Generator<[number, Bits], void> {
    for (let block = 0; block < blocks; block++) {
      const bits = read(list, block);
      if (bits) yield [block, bits];
    }
  }

  function isLeft(bits: Bits, lists: number[], block: number): boolean {
    return lists.every((list) => {
      const other = read(list, block);
      return other !== undefined && intersect(bits, other);
    });
  }

  return {
    *intersect(lists, among) {
      const [first = 0, ...others] = lists;
      for (const [block, bits] of among ? blocksOf(among) : readAll(first)) {
        if (!isLeft(bits, among ? lists : others, block)) continue;
        for (const offset of listBits(bits)) yield block * BLOCK_RANKS + offset;
      }
    },
  };
}

/** Ascending ranks as blocks. */
function* blocksOf(ranks: Iterable<number>): Generator<[number, Bits], void> {
  let block = -1;
  let bits = emptyBlock();
  for (const rank of ranks) {
    const next = Math.floor(rank / BLOCK_RANKS);
    if (next !== block) {
      if (block >= 0) yield [block, bits];
      block = next;
      bits = emptyBlock();
    }
    changeBit(bits, rank % BLOCK_RANKS, true);
  }
  if (block >= 0) yield [block, bits];
}

/** Changes the lists, name by name in order of rank. */
export function openLongListChanges(db: Sqlite, kind: NameKind, numbers: Map<string, number>) {
  const findBlock = db.prepare<{ ranks: Uint8Array }>(
    `SELECT ranks FROM ${kind}_long_list WHERE id = ?`,
  );
  const write = db.prepare(`INSERT OR REPLACE INTO ${kind}_long_list (id, ranks) VALUES (?, ?)`);
  const remove = db.prepare(`DELETE FROM ${kind}_long_list WHERE id = ?`);
  /** Of the lists that change in a block: the offsets that are to be in it, or not. */
  const changes = new Map<number, Map<number, boolean>>();
  let block = 0;
  function finish(): void {
    for (const [list, offsets] of changes) {
      const id = idOf(list, block);
      const row = findBlock.get(id);
      const bits = row ? decodeBlock(row.ranks) : emptyBlock();
      for (const [offset, isListed] of offsets) changeBit(bits, offset, isListed);
      if (bits.some((word) => word !== 0)) write.run(id, encodeBlock([...listBits(bits)]));
      else remove.run(id);
    }
    changes.clear();
  }
  return {
    /**
     * Lists the name that is at a rank now under its n-grams, or one that was there no longer; returns
     * those that have no long list. The last that is said of a rank holds.
     */
    set(ngrams: string[], rank: number, isListed: boolean): string[] {
      const next = Math.floor(rank / BLOCK_RANKS);
      if (next !== block) finish();
      block = next;
      return ngrams.filter((ngram) => {
        const list = numbers.get(ngram);
        if (list === undefined) return true;
        const offsets = changes.get(list) ?? new Map<number, boolean>();
        changes.set(list, offsets.set(rank % BLOCK_RANKS, isListed));
        return false;
      });
    },
    finish,
  };
}
