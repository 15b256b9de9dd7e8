/** FTS5 reads posting lists that are written directly into its tables. */
import { expect, test } from "bun:test";
import { createSegmentWriter } from "../../src/search/fts5-segment.ts";
import { createSchema } from "../../src/snapshot/format/schema.ts";
import { sqlite } from "../../src/sqlite/bun.ts";

test("FTS5 reads posting lists that fill one page and lists that fill many", () => {
  const db = sqlite.openWritable(":memory:").$client;
  createSchema(db);
  const segment = createSegmentWriter(db, "user_ngram");
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
    segment.add({ ngram, docIds, size: docIds.length, count: docIds.length });
  }
  segment.finish(70_000);
  expect(db.prepare("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);

  const find = db.prepare<{ rank: number }>(
    "SELECT rowid AS rank FROM user_ngram WHERE user_ngram MATCH ? ORDER BY rowid",
  );
  for (const [ngram, docIds] of lists) {
    expect(find.all(`"${ngram}"`).map(({ rank }) => rank)).toEqual([...docIds]);
  }
  db.close();
});
