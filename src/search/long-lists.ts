/** Stores the long posting lists in a table with one row per block of document ids. */
import type { Sqlite } from "../sqlite/driver.ts";
import {
  type Bits,
  BLOCK_DOCS,
  createBitmap,
  decodeBlock,
  encodeBlock,
  hasBit,
  intersect,
  listBits,
  setBit,
} from "./bits.ts";
import type { NameKind } from "./tables.ts";
import { LONG_SHARE } from "./tuning.ts";

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

function openBlocks(db: Sqlite, kind: NameKind) {
  const find = db.prepare<{ ranks: Uint8Array }>(
    `SELECT ranks FROM ${kind}_long_list WHERE id = ?`,
  );
  return (list: number, block: number): Bits | undefined => {
    const row = find.get(rowIdOf(list, block));
    return row ? decodeBlock(row.ranks) : undefined;
  };
}

export function openLongLists(db: Sqlite, kind: NameKind) {
  const read = openBlocks(db, kind);
  const findLast = db.prepare<{ id: number | null }>(`SELECT max(id) AS id FROM ${kind}_long_list`);
  const blocks = Math.floor((findLast.get()?.id ?? 0) / MAX_LISTS) + 1;

  return {
    /** Yields the ascending document ids that all lists contain. Pass the shortest list first. */
    *intersect([first = 0, ...others]: number[]): Generator<number, void> {
      for (let block = 0; block < blocks; block++) {
        const bits = read(first, block);
        if (!bits) continue;
        const disjoint = others.findIndex((list) => {
          const other = read(list, block);
          return !other || !intersect(bits, other);
        });
        if (disjoint < 0) for (const offset of listBits(bits)) yield block * BLOCK_DOCS + offset;
        // This list probably rules out the next block too.
        else others.unshift(...others.splice(disjoint, 1));
      }
    },
    /** Yields each of the ascending `docIds` that all lists contain. */
    *filter(docIds: number[], lists: number[]): Generator<number, void> {
      for (const [block, docIdsOfBlock] of Map.groupBy(docIds, blockOf)) {
        let left = docIdsOfBlock;
        for (const list of lists) {
          const bits = read(list, block);
          left = bits ? left.filter((docId) => hasBit(bits, docId % BLOCK_DOCS)) : [];
          if (left.length === 0) break;
        }
        yield* left;
      }
    },
  };
}

/** Changes long lists one name at a time, in rank order. */
export function openLongListChanges(
  db: Sqlite,
  kind: NameKind,
  listOf: (ngram: string) => number | null | undefined,
) {
  const read = openBlocks(db, kind);
  const write = db.prepare(`INSERT OR REPLACE INTO ${kind}_long_list (id, ranks) VALUES (?, ?)`);
  const remove = db.prepare(`DELETE FROM ${kind}_long_list WHERE id = ?`);
  /** The current block of each list that has changes in that block. */
  const changed = new Map<number, Bits>();
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
    /** Adds a rank to lists or removes it. Returns the n-grams that have no long list. */
    set(ngrams: string[], rank: number, isListed: boolean): string[] {
      if (blockOf(rank) !== block) finish();
      block = blockOf(rank);
      return ngrams.filter((ngram) => {
        const list = listOf(ngram) ?? null;
        if (list === null) return true;
        const bits = changed.get(list) ?? read(list, block) ?? createBitmap();
        setBit(bits, rank % BLOCK_DOCS, isListed);
        changed.set(list, bits);
        return false;
      });
    },
    finish,
  };
}
