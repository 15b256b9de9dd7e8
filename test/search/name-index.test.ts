/** The name index finds the same names as test/oracle.ts, which scans all names. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { buildNameIndex } from "../../src/search/build.ts";
import { openNameChanges } from "../../src/search/change.ts";
import { fold } from "../../src/search/fold.ts";
import { openLongLists } from "../../src/search/long-lists.ts";
import { ngramsOf } from "../../src/search/ngrams.ts";
import type { NameKind } from "../../src/search/tables.ts";
import { FREQUENT_ABOVE } from "../../src/search/tuning.ts";
import type { Sqlite } from "../../src/sqlite/driver.ts";
import { searchAsWritten, spellingsAsWritten } from "../oracle.ts";
import { runs } from "../runs.ts";
import { membersOf, openIds, openNames, similarNames } from "./similar-names.ts";

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
          const [first = ""] = values.map(String);
          count.names += first.startsWith("[") ? JSON.parse(first).length : rows.length;
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

function rename(db: Sqlite, from: string[], to: string[]): void {
  // With the default, so many changes among so few names would rebuild the index.
  const changes = openNameChanges(db, "user", 5);
  const setName = db.prepare("UPDATE user SET name = ? WHERE id = ?");
  for (const [at, name] of to.entries()) {
    if (name === from[at]) continue;
    changes.change(at + 1);
    setName.run(name, at + 1);
  }
  if (!changes.finish()) for (const _ of buildNameIndex(db, "user"));
}

/** Expects each long list to have the ranks of the names with the list's n-gram. */
function expectLongLists(db: Sqlite): void {
  const frequent = db
    .prepare<{ ngram: string; list: number | null }>("SELECT ngram, list FROM user_frequent_ngram")
    .all();
  const known = new Set(frequent.map(({ ngram }) => ngram));
  const ngramsByRank = db
    .prepare<{ rank: number; folded: string }>("SELECT rank, folded FROM user_name ORDER BY rank")
    .all()
    .map(({ rank, folded }) => [rank, ngramsOf(folded, (ngram) => known.has(ngram))] as const);
  const longLists = openLongLists(db, "user");
  for (const { ngram, list } of frequent) {
    if (list === null) continue;
    const ranks = ngramsByRank.flatMap(([rank, ngrams]) => (ngrams.includes(ngram) ? rank : []));
    expect([ngram, ...longLists.intersect([list])]).toEqual([ngram, ...ranks]);
  }
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
          const lists = db.prepare<{ list: number | null }>(
            `SELECT DISTINCT list FROM ${kind}_frequent_ngram`,
          );
          for (const { list } of lists.all()) seen.add(list === null ? "FTS5" : "long");
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
        rename(db, names, changed);
        expectSame(openIds(db), scan(changed), queries);
        expectLongLists(db);
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
