/**
 * The index finds what a reading of the contract's §4 finds that scans all names: on names made to
 * collide, so that ngrams are open and lists meet, and on every plane of Unicode.
 */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { fold } from "../../src/search/fold.ts";
import { ngramsOf } from "../../src/search/ngrams.ts";
import type { NameKind } from "../../src/snapshot/format/schema.ts";
import { createSchema } from "../../src/snapshot/format/schema.ts";
import { buildNameIndex } from "../../src/snapshot/name-index/build.ts";
import { openNameChanges } from "../../src/snapshot/name-index/change.ts";
import { FREQUENT_ABOVE } from "../../src/snapshot/name-index/constants.ts";
import { NameSearch } from "../../src/snapshot/name-index/find.ts";
import { openLongLists } from "../../src/snapshot/name-index/long-lists.ts";
import { sqlite } from "../../src/sqlite/bun.ts";
import type { Sqlite } from "../../src/sqlite/driver.ts";
import { searchAsWritten, spellingsAsWritten } from "../oracle.ts";
import { runs } from "../runs.ts";
import { alikeNames, fillNames, membersOf } from "./alike-names.ts";

/** As `db`, and counts the names that a search looks at. */
function countNames(db: Sqlite) {
  const count = { names: 0 };
  const counting: Sqlite = {
    exec: (sql) => db.exec(sql),
    close: () => db.close(),
    prepare<Row>(sql: string) {
      const statement = db.prepare<Row>(sql);
      const counted = <Found extends Row | null | undefined>(row: Found) => {
        if (row && Object.hasOwn(row, "folded")) count.names++;
        return row;
      };
      return {
        get: (...values) => counted(statement.get(...values)),
        all: (...values) => statement.all(...values),
        run: (...values) => statement.run(...values),
        *iterate(...values) {
          const [first] = values;
          // SQLite looks at the names of all these ranks, and returns those that match.
          if (!String(first).startsWith("[")) {
            for (const row of statement.iterate(...values)) yield counted(row);
            return;
          }
          count.names += JSON.parse(String(first)).length;
          yield* statement.iterate(...values);
        },
      };
    },
  };
  return { counting, count };
}

/** Finds ids, where the index finds ranks; `counting` is what the index reads. */
function openIds(db: Sqlite, kind: NameKind = "user", counting = db) {
  const search = new NameSearch(counting, kind);
  const findId = db.prepare<{ id: number }>(`SELECT id FROM ${kind}_name WHERE rank = ?`);
  return (query: string) => search.find(query, 10).map((rank) => findId.get(rank)?.id ?? 0);
}

/** Users or companies 1, 2, 3 … of these names, and a way to search them. */
function openNamesOf(names: string[], kind: NameKind = "user", longShare?: number) {
  const db = sqlite.openConnection(":memory:");
  createSchema(db);
  fillNames(db, { kind, name: (at) => names[at] ?? "" }, names.length);
  for (const _ of buildNameIndex(db, kind, longShare));
  return { db, find: openIds(db, kind), close: () => db.close() };
}

/** Gives users other names, and the index with them. */
function rename(db: Sqlite, names: [id: number, name: string][]): void {
  const changes = openNameChanges(db, "user");
  const setName = db.prepare("UPDATE user SET name = ? WHERE id = ?");
  for (const [id, name] of names) {
    changes.change(id);
    setName.run(name, id);
  }
  if (!changes.finish()) for (const _ of buildNameIndex(db, "user"));
}

/** Ranks in a long list without a name that belongs there, and of such names the ranks that are not. */
function strayRanksOf(db: Sqlite): unknown[] {
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

/** Where the posting lists of the frequent n-grams are. */
function placesOf(db: Sqlite, kind: NameKind): string[] {
  return db
    .prepare<{ place: string }>(
      `SELECT DISTINCT iif(list IS NULL, 'FTS5', 'long') AS place FROM ${kind}_frequent_ngram`,
    )
    .all()
    .map(({ place }) => place);
}

/** A search of the same names as the contract says. */
function searchOf(names: string[], kind: NameKind = "user") {
  return searchAsWritten(
    names.map((name, index) => {
      const spellings = spellingsAsWritten(name);
      const weight = kind === "user" ? Array.from(spellings[0] ?? "").length : -membersOf(index);
      return { id: index + 1, spellings, weight };
    }),
  );
}

/** Few characters: letters, a mark that is one, a pair of surrogates, what FTS5 reads as syntax. */
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
 * 600 names of one alphabet: most ngrams of one and two characters are in more than a hundred. When
 * all begin alike, few are found by their start, and the later tiers are read.
 */
const community = fc.constantFrom(...alphabets).chain((alphabet) => {
  const word = (maxLength: number) =>
    fc
      .array(fc.constantFrom(...alphabet), { minLength: 1, maxLength })
      .map((characters) => fold(characters.join("")));
  const beginning = fc.constantFrom("", "z");
  return fc.record({
    kind: fc.constantFrom<NameKind>("user", "company"),
    names: beginning.chain((same) =>
      fc.array(
        word(12)
          .map((name) => fold(same + name))
          .filter((name) => name !== ""),
        { minLength: 600, maxLength: 600 },
      ),
    ),
    queries: fc.array(word(8), { minLength: 100, maxLength: 100 }),
  });
});

describe("a search", () => {
  test.each([
    ["in long lists", undefined, ["long"]],
    ["in long lists and in FTS5", 2, ["FTS5", "long"]],
    ["in FTS5", 0.1, ["FTS5"]],
  ])(
    "finds what a reading of all names finds, in its order, when common n-grams are %s",
    (_, longShare, places) => {
      const seen = new Set<string>();
      fc.assert(
        fc.property(community, ({ kind, names, queries }) => {
          const { db, find, close } = openNamesOf(names, kind, longShare);
          const search = searchOf(names, kind);
          for (const place of placesOf(db, kind)) seen.add(place);
          for (const query of [...queries, ...names.slice(0, 20)]) {
            const result = { query, ids: find(query) };
            expect(result).toEqual({ query, ids: search(query) });
          }
          close();
        }),
        { numRuns: runs(10) },
      );
      expect([...seen].sort()).toEqual(places);
    },
    60_000,
  );

  test("finds them after changes, too, and lists what an index built anew lists", () => {
    fc.assert(
      fc.property(community, ({ names, queries }) => {
        const { db, close } = openNamesOf(names);
        const changed = names.map((name, at) => (at % 40 === 0 ? (names[at + 1] ?? name) : name));
        rename(
          db,
          [...changed.entries()]
            .filter(([at]) => at % 40 === 0)
            .map(([at, name]) => [at + 1, name]),
        );
        const find = openIds(db);
        const search = searchOf(changed);
        for (const query of queries) {
          expect({ query, ids: find(query) }).toEqual({
            query,
            ids: search(query),
          });
        }
        expect(strayRanksOf(db)).toEqual([]);
        close();
      }),
      { numRuns: runs(5) },
    );
  }, 60_000);

  test.each(Object.entries(alikeNames))(
    "looks at few of thousands of names that are alike: %s",
    (_, { kind, count: all, name, queries, worst = [] }) => {
      const length = Math.min(2500, all / 4);
      const names = Array.from({ length }, (_, at) => name(at));
      const { db, close } = openNamesOf(names, kind);
      const search = searchOf(names, kind);
      const { counting, count } = countNames(db);
      const find = openIds(db, kind, counting);
      const most: Record<string, number> = {};
      for (const query of [...queries, ...worst]) {
        count.names = 0;
        expect({ query, ids: find(query) }).toEqual({
          query,
          ids: search(query),
        });
        if (!worst.includes(query)) most[query] = count.names;
      }
      expect(Object.entries(most).filter(([, names]) => names > FREQUENT_ABOVE + 50)).toEqual([]);
      close();
    },
    30_000,
  );

  test("finds a name of 200 code points by its full text in any normalization", () => {
    // Of all code points these come apart into most code points, and most UTF-16 units.
    const names = ["\u1f82".repeat(200), "\u{1d160}".repeat(200)];
    const { find, close } = openNamesOf(names);
    names.forEach((name, at) => {
      for (const form of ["NFC", "NFD"]) expect(find(name.normalize(form))).toEqual([at + 1]);
      expect(find(`${name}${name}${name}${name}a`)).toEqual([]);
    });
    close();
  });

  test("reads past words that come together to the few names that have them all", () => {
    const truckers = Array.from(
      { length: 3000 },
      (_, id) => `trucker ${id % 2 ? "ka" : "zu"}${id}`,
    );
    const names = [...truckers, "zu trucker ka", "kazu the trucker"];
    const index = openNamesOf(names);
    expect(index.find("ck er tr ka zu")).toEqual([3001, 3002]);
    expect(index.find("ck er tr ka zu qq")).toEqual([]);
    expect(index.find("ker ruc ka")).toEqual(searchOf(names)("ker ruc ka"));
    index.close();
  });

  test("reads past hundreds of names that have the three rarest words, to those with the fourth", () => {
    const spread = (count: number, text: string) =>
      Array.from({ length: count }, (_, id) => `${text}${String(id).padStart(3, "0")}`);
    const names = [
      ...spread(500, "aa bb cc "),
      "aa bb cc dd 1",
      "aa bb cc dd 2",
      ...spread(100, "aa bb cc and "),
      ...spread(700, "dd "),
    ];
    const index = openNamesOf(names);
    expect(index.find("dd cc bb aa")).toEqual([501, 502]);
    index.close();
  });

  test("finds characters of every plane, one by one and between others", () => {
    const characters: string[] = [];
    for (let code = 0x20; code <= 0x10ffff; code += code < 0x500 ? 1 : 1010 / runs(1)) {
      const character = String.fromCodePoint(code);
      const isKept = character.isWellFormed() && fold(`a${character}b`) === `a${character}b`;
      if (isKept) characters.push(character);
    }
    const planes = new Set(characters.map((character) => (character.codePointAt(0) ?? 0) >> 16));
    expect(planes.size).toBe(17);
    const names = characters.map((character) => `a${character}b`);
    const index = openNamesOf(names);
    const search = searchOf(names);
    names.forEach((name, at) => {
      expect(index.find(name)).toEqual(search(name));
      const character = characters[at] ?? "";
      expect(index.find(character)).toEqual(search(character));
    });
    index.close();
  }, 60_000);

  test("gives the ids of the golden file", async () => {
    const golden = await Bun.file(join(import.meta.dir, "golden.txt")).text();
    const [names = [], cases = []] = golden
      .split("\n\n")
      .slice(1)
      .map((part) => part.trim().split("\n"));
    const index = openNamesOf(names.map((line) => line.replace(/^\s*\d+ /, "")));
    const answers = cases.map((line) => {
      const [query = ""] = line.split(" -> ");
      return `${query} -> ${index.find(query).join(" ") || "nothing"}`;
    });
    expect(answers).toEqual(cases);
    index.close();
  });
});
