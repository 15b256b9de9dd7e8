/** FTS5 reads posting lists written directly into its tables, in both directions from any rank. */
import { expect, test } from "bun:test";
import { SegmentWriter } from "../../src/search/fts5-segment.ts";
import { createSchema } from "../../src/snapshot/format/schema.ts";
import { sqlite } from "../../src/sqlite/bun.ts";

test("FTS5 reads posting lists that fill one page and lists that fill many", () => {
  const db = sqlite.openWritable(":memory:").$client;
  createSchema(db);
  const segment = new SegmentWriter(db, "user_ngram");
  // After every seven ranks, there is a gap of 201, which FTS5 stores in two bytes.
  const lists = new Map(
    [3, 30_000, 1, 5000, 200, 70_000].map((size, at) => [
      `${"abc".slice(at % 3)}${at}`,
      Uint32Array.from({ length: size }, (_, index) => 1 + index + 200 * Math.floor(index / 7)),
    ]),
  );
  const ngrams = [...lists.keys()].sort();
  for (const ngram of ngrams) {
    const docIds = lists.get(ngram) ?? new Uint32Array();
    const [size, count] = [docIds.length, docIds.length];
    segment.add({ ngram, docIds, size, count, isFrequent: true });
  }
  segment.finish(70_000);
  expect(db.prepare("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);

  const select = "SELECT rowid AS rank FROM user_ngram WHERE user_ngram MATCH ? AND rowid";
  const after = db.prepare<{ rank: number }>(`${select} > ? ORDER BY rowid LIMIT 3`);
  const before = db.prepare<{ rank: number }>(`${select} < ? ORDER BY rowid DESC LIMIT 3`);
  for (const ngram of ngrams) {
    const ranks = [...(lists.get(ngram) ?? [])];
    for (let from = 0; from < 2_100_000; from += 99_991) {
      const found = [after, before].map((query) =>
        query.all(`"${ngram}"`, from).map(({ rank }) => rank),
      );
      const next = ranks.findIndex((rank) => rank > from);
      const end = ranks.findLastIndex((rank) => rank < from) + 1;
      expect(found).toEqual([
        next < 0 ? [] : ranks.slice(next, next + 3),
        ranks.slice(Math.max(0, end - 3), end).reverse(),
      ]);
    }
  }
  db.close();
});
