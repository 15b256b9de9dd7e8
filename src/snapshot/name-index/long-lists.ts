/**
 * The long posting lists: those of n-grams that are in more than a small share of all names. They are not
 * in FTS5 but in blocks of ranks, one row each: several of them are intersected block by block, and
 * a block in which the first ones do not meet is not read of the others.
 */
import { type Bits, hasBit, intersect, listBits, setBit } from "../../search/bits.ts";
import {
  BITS_BYTES,
  BLOCK_RANKS,
  decodeBlock,
  emptyBlock,
  encodeBlock,
} from "../../search/posting-block.ts";
import type { PostingList } from "../../search/posting-lists.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import { type Bounded, bounded, bytesOf } from "../format/bounds.ts";
import type { NameKind } from "../format/schema.ts";
import { FULL_SHARE, LONG_SHARE } from "./constants.ts";

/** Rows are in order of block, then of list: so they are written in order, too. */
const MAX_LISTS = 2 ** 20;
const idOf = (list: number, block: number) => block * MAX_LISTS + list;
const blockOf = (rank = 0) => Math.floor(rank / BLOCK_RANKS);

/** The last there can be: a rank has 32 bits. */
const MAX_BLOCK = blockOf(2 ** 32 - 1);

export const isLong = (count: number, names: number, share = LONG_SHARE) => count > names / share;

const FIRST_SPARSE = MAX_LISTS / 2;

/** Writes a list; returns its number. */
export function createLongListWriter(db: Sqlite, kind: NameKind, names: number) {
  const insert = db.prepare(`INSERT INTO ${kind}_long_list (id, ranks) VALUES (?, ?)`);
  let full = 0;
  let sparse = FIRST_SPARSE;
  return ({ ranks, size }: Pick<PostingList, "ranks" | "size">): number => {
    const list = size >= names / FULL_SHARE ? full++ : sparse++;
    for (let from = 0, to = 0; from < size; from = to) {
      const block = blockOf(ranks[from]);
      while (to < size && blockOf(ranks[to]) === block) to++;
      insert.run(idOf(list, block), encodeBlock(ranks, from, to));
    }
    return list;
  };
}

/** Reads blocks; of a list that has no rank there, none. */
function openBlocks(db: Sqlite, kind: NameKind) {
  const find = db.prepare<{ ranks: Bounded }>(
    `SELECT ${bounded("ranks", BITS_BYTES)} AS ranks FROM ${kind}_long_list WHERE id = ?`,
  );
  return (list: number, block: number): Bits | undefined => {
    const row = find.get(idOf(list, block));
    const bytes = row && bytesOf(row.ranks);
    return bytes ? decodeBlock(bytes) : undefined;
  };
}

export function openLongLists(db: Sqlite, kind: NameKind) {
  const read = openBlocks(db, kind);
  const last = db
    .prepare<{ id: number | null }>(`SELECT max(id) AS id FROM ${kind}_long_list`)
    .get();
  const blocks = Math.min(Math.floor((last?.id ?? 0) / MAX_LISTS), MAX_BLOCK) + 1;

  function* readAll(list: number): Generator<[number, Bits], void> {
    for (let block = 0; block < blocks; block++) {
      const bits = read(list, block);
      if (bits) yield [block, bits];
    }
  }

  return {
    /** The ranks that are in all the lists, ascending. The shortest list should be the first. */
    *intersect([first = 0, ...others]: number[]): Generator<number, void> {
      for (const [block, bits] of readAll(first)) {
        const missing = others.findIndex((list) => {
          const other = read(list, block);
          return !other || !intersect(bits, other);
        });
        if (missing < 0) for (const offset of listBits(bits)) yield block * BLOCK_RANKS + offset;
        // In the next block, this list is probably again the one that does not meet the others.
        else others.unshift(...others.splice(missing, 1));
      }
    },
    /** The ranks that are in all the lists, out of some ascending ranks. */
    *filter(ranks: number[], lists: number[]): Generator<number, void> {
      for (const [block, ranksOfBlock] of Map.groupBy(ranks, blockOf)) {
        let left = ranksOfBlock;
        for (const list of lists) {
          const bits = read(list, block);
          left = bits ? left.filter((rank) => hasBit(bits, rank % BLOCK_RANKS)) : [];
          if (left.length === 0) break;
        }
        yield* left;
      }
    },
  };
}

/** Changes the lists, name by name in order of rank; `listOf` is the number of an n-gram's list. */
export function openLongListChanges(
  db: Sqlite,
  kind: NameKind,
  listOf: (ngram: string) => number | null | undefined,
) {
  const read = openBlocks(db, kind);
  const write = db.prepare(`INSERT OR REPLACE INTO ${kind}_long_list (id, ranks) VALUES (?, ?)`);
  const remove = db.prepare(`DELETE FROM ${kind}_long_list WHERE id = ?`);
  /** One block of each list that changes there. */
  const changed = new Map<number, Bits>();
  let block = 0;
  function finish(): void {
    for (const [list, bits] of changed) {
      const ranks = Uint32Array.from(listBits(bits));
      if (ranks.length > 0) write.run(idOf(list, block), encodeBlock(ranks));
      else remove.run(idOf(list, block));
    }
    changed.clear();
  }
  return {
    /**
     * Lists the name that is at a rank now under its n-grams, or one that was there no longer; returns
     * those that have no long list. The last that is said of a rank holds.
     */
    set(ngrams: string[], rank: number, isListed: boolean): string[] {
      if (blockOf(rank) !== block) finish();
      block = blockOf(rank);
      return ngrams.filter((ngram) => {
        const list = listOf(ngram) ?? null;
        if (list === null) return true;
        const bits = changed.get(list) ?? read(list, block) ?? emptyBlock();
        setBit(bits, rank % BLOCK_RANKS, isListed);
        changed.set(list, bits);
        return false;
      });
    },
    finish,
  };
}
