/** The name index finds the same names as test/oracle.ts, which scans all names. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { buildNameIndex } from "../../src/search/build.ts";
import { openNameChanges } from "../../src/search/change.ts";
import { NameSearch } from "../../src/search/find.ts";
import { fold, spellQuery } from "../../src/search/fold.ts";
import { openLongLists } from "../../src/search/long-lists.ts";
import { ngramsOf } from "../../src/search/ngrams.ts";
import type { NameKind } from "../../src/search/tables.ts";
import { FREQUENT_ABOVE } from "../../src/search/tuning.ts";
import { createSchema } from "../../src/snapshot/format/schema.ts";
import { sqlite } from "../../src/sqlite/bun.ts";
import type { Sqlite } from "../../src/sqlite/driver.ts";
import { searchAsWritten, spellingsAsWritten } from "../oracle.ts";
import { runs } from "../runs.ts";
import { fillNames, membersOf, similarNames } from "./similar-names.ts";

type Search = (query: string) => number[];

/** Wraps a connection to count the names that searches read through it. */
function countNames(db: Sqlite) {
  const count = { names: 0 };
  const counting: Sqlite = {
    exec: (sql) => db.exec(sql),
    serialize: () => db.serialize(),
    close: () => db.close(),
    prepare<Row>(sql: string) {
      const statement = db.prepare<Row>(sql);
      return {
        get: (...values) => statement.get(...values),
        run: (...values) => statement.run(...values),
        all(...values) {
          const rows = statement.all(...values);
          // For a JSON array of ranks, SQLite reads the name of every rank in the array, but
          // returns only the names that match.
          const [first] = values;
          const isArray = String(first).startsWith("[");
          count.names += isArray ? JSON.parse(String(first)).length : rows.length;
          return rows;
        },
        *iterate(...values) {
          for (const row of statement.iterate(...values)) {
            count.names++;
            yield row;
          }
        },
      };
    },
  };
  return { counting, count };
}

/** Opens a search that returns ids instead of ranks. */
function openIds(db: Sqlite, kind: NameKind = "user", counting = db) {
  const search = new NameSearch(counting, kind);
  const findId = db.prepare<{ id: number }>(`SELECT id FROM ${kind}_name WHERE rank = ?`);
  return (query: string) => search.find(spellQuery(query)).map((rank) => findId.get(rank)?.id ?? 0);
}

function openNames(names: string[], kind: NameKind = "user", longShare?: number) {
  const db = sqlite.openWritable(":memory:").$client;
  createSchema(db);
  fillNames(db, { kind, name: (at) => names[at] ?? "" }, names.length);
  for (const _ of buildNameIndex(db, kind, longShare));
  return { db, find: openIds(db, kind), close: () => db.close() };
}

function rename(db: Sqlite, names: [id: number, name: string][]): void {
  // Rebuilds only after many changes: SQLite needs a new connection to search a rebuilt index.
  const changes = openNameChanges(db, "user", 5);
  const setName = db.prepare("UPDATE user SET name = ? WHERE id = ?");
  for (const [id, name] of names) {
    changes.change(id);
    setName.run(name, id);
  }
  if (!changes.finish()) for (const _ of buildNameIndex(db, "user"));
}

/** Returns the long lists whose ranks differ from the ranks of the names with the list's n-gram. */
function wrongLongLists(db: Sqlite): unknown[] {
  const frequent = db
    .prepare<{ ngram: string; list: number | null }>("SELECT ngram, list FROM user_frequent_ngram")
    .all();
  const known = new Set(frequent.map(({ ngram }) => ngram));
  const longLists = openLongLists(db, "user");
  const ngramsByRank = db
    .prepare<{ rank: number; folded: string }>("SELECT rank, folded FROM user_name ORDER BY rank")
    .all()
    .map(({ rank, folded }) => ({
      rank,
      ngrams: new Set(ngramsOf(folded, (ngram) => known.has(ngram))),
    }));
  return frequent.flatMap(({ ngram, list }) => {
    if (list === null) return [];
    const listed = [...longLists.intersect([list])];
    const ranks = ngramsByRank.filter(({ ngrams }) => ngrams.has(ngram)).map(({ rank }) => rank);
    return Bun.deepEquals(listed, ranks) ? [] : { ngram, listed, ranks };
  });
}

function storageOf(db: Sqlite, kind: NameKind): string[] {
  return db
    .prepare<{ storage: string }>(
      `SELECT DISTINCT iif(list IS NULL, 'FTS5', 'long') AS storage FROM ${kind}_frequent_ngram`,
    )
    .all()
    .map(({ storage }) => storage);
}

function scan(names: string[], kind: NameKind = "user") {
  return searchAsWritten(
    names.map((name, index) => {
      const spellings = spellingsAsWritten(name);
      const sortKey = kind === "user" ? Array.from(spellings[0] ?? "").length : -membersOf(index);
      return { id: index + 1, spellings, sortKey };
    }),
  );
}

function expectSame(find: Search, scan: Search, queries: string[]): void {
  for (const query of queries) {
    expect({ query, ids: find(query) }).toEqual({ query, ids: scan(query) });
  }
}

/** Small alphabets. Some have surrogate pairs, FTS5 query syntax or marks that count as letters. */
const alphabets = [
  "ab",
  "abc ",
  'a-"* b',
  "ab1 _",
  "aが\u3099か ",
  "a🚚𐐨 ",
  "אב ־",
  "한국 a",
  "öoeÅa ü",
  "Игорьig ",
  "щshcуu ж",
  "Ωωomega'",
  "a\u093cक न",
];

/**
 * All 600 names use one small alphabet, so most n-grams of one or two characters are frequent. In
 * some runs, every name begins with a letter that no random query has, so the queries match only
 * in later tiers.
 */
const community = fc.constantFrom(...alphabets).chain((alphabet) => {
  const word = (maxLength: number) =>
    fc
      .array(fc.constantFrom(...alphabet), { minLength: 1, maxLength })
      .map((characters) => fold(characters.join("")));
  const beginning = fc.constantFrom("", "z");
  return fc.record({
    kind: fc.constantFrom<NameKind>("user", "company"),
    names: beginning.chain((prefix) =>
      fc.array(
        word(12)
          .map((name) => fold(prefix + name))
          .filter((name) => name !== ""),
        { minLength: 600, maxLength: 600 },
      ),
    ),
    queries: fc.array(word(8), { minLength: 50, maxLength: 50 }),
  });
});

describe("a search", () => {
  test.each([
    ["in long lists", undefined, ["long"]],
    ["in long lists and in FTS5", 2, ["FTS5", "long"]],
    ["in FTS5", 0.1, ["FTS5"]],
  ])(
    "finds the same names in the same order as a full scan, with frequent n-grams %s",
    (_, longShare, storage) => {
      const seen = new Set<string>();
      fc.assert(
        fc.property(community, ({ kind, names, queries }) => {
          const { db, find, close } = openNames(names, kind, longShare);
          for (const place of storageOf(db, kind)) seen.add(place);
          expectSame(find, scan(names, kind), [...queries, ...names.slice(0, 20)]);
          close();
        }),
        { numRuns: runs(5) },
      );
      expect([...seen].sort()).toEqual(storage);
    },
  );

  test("finds the same names as a full scan after changes; long lists stay correct", () => {
    fc.assert(
      fc.property(community, ({ names, queries }) => {
        const { db, close } = openNames(names);
        const changed = names.map((name, at) => (at % 40 === 0 ? (names[at + 1] ?? name) : name));
        rename(
          db,
          [...changed.entries()]
            .filter(([at]) => at % 40 === 0)
            .map(([at, name]) => [at + 1, name]),
        );
        expectSame(openIds(db), scan(changed), queries);
        expect(wrongLongLists(db)).toEqual([]);
        close();
      }),
      { numRuns: runs(3) },
    );
  });

  test.each(Object.entries(similarNames))(
    "reads only a few names when thousands are similar: %s",
    (_, { kind, count: fullCount, name, queries, worst = [] }) => {
      const length = Math.min(500, fullCount / 16);
      const names = Array.from({ length }, (_, at) => name(at));
      const { db, close } = openNames(names, kind);
      const search = scan(names, kind);
      const { counting, count } = countNames(db);
      const find = openIds(db, kind, counting);
      const reads: Record<string, number> = {};
      for (const query of [...queries, ...worst]) {
        count.names = 0;
        expectSame(find, search, [query]);
        if (!worst.includes(query)) reads[query] = count.names;
      }
      expect(Object.entries(reads).filter(([, names]) => names > FREQUENT_ABOVE + 50)).toEqual([]);
      close();
    },
  );

  test("finds a name of 200 code points when the query is the whole name in NFC or NFD", () => {
    // The first decomposes into the most code points, the second folds to the most.
    const names = ["\u1f82".repeat(200), "\ufdfa".repeat(200)];
    const { find, close } = openNames(names);
    names.forEach((name, at) => {
      for (const form of ["NFC", "NFD"]) expect(find(name.normalize(form))).toEqual([at + 1]);
      expect(find(`${name}${name}${name}${name}a`)).toEqual([]);
    });
    close();
  });

  test("finds the few names with all words when most names have most of the words", () => {
    const truckers = Array.from(
      { length: 3000 },
      (_, at) => `trucker ${at % 2 ? "ka" : "zu"}${at}`,
    );
    const names = [...truckers, "zu trucker ka", "kazu the trucker"];
    const index = openNames(names);
    expect(index.find("ck er tr ka zu")).toEqual([3001, 3002]);
    expect(index.find("ck er tr ka zu qq")).toEqual([]);
    expect(index.find("ker ruc ka")).toEqual(scan(names)("ker ruc ka"));
    index.close();
  });

  test("finds characters from every Unicode plane, alone and between other characters", () => {
    const characters: string[] = [];
    for (let code = 0x20; code <= 0x10ffff; code += code < 0x500 ? 1 : 4040 / runs(1)) {
      const character = String.fromCodePoint(code);
      const isKept = character.isWellFormed() && fold(`a${character}b`) === `a${character}b`;
      if (isKept) characters.push(character);
    }
    const planes = new Set(characters.map((character) => (character.codePointAt(0) ?? 0) >> 16));
    expect(planes.size).toBe(17);
    const names = characters.map((character) => `a${character}b`);
    const index = openNames(names);
    expectSame(index.find, scan(names), [...names, ...characters]);
    index.close();
  });
});
