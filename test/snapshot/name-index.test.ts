/**
 * The index finds what a reading of the contract's §4 finds that scans all names: on names made to
 * collide, so that ngrams are open and lists meet, and on every plane of Unicode.
 */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { fold } from "../../src/search/fold.ts";
import { createSchema } from "../../src/snapshot/format/schema.ts";
import { buildNameIndex, type NameKind } from "../../src/snapshot/name-index/build.ts";
import { openNames } from "../../src/snapshot/name-index/find.ts";
import { sqlite } from "../../src/sqlite/bun.ts";
import { foldAsWritten, searchAsWritten } from "../oracle.ts";
import { runs } from "../runs.ts";

/** Larger and smaller companies, in no order. */
const membersOf = (index: number) => (index * 7919) % 600;

/** Users or companies 1, 2, 3 … of these names, and a way to search them. */
function openNamesOf(names: string[], kind: NameKind = "user") {
  const db = sqlite.openWritable(":memory:");
  createSchema(db);
  const addUser = db.prepare("INSERT INTO user VALUES (?, ?, '/a', 0, NULL, NULL)");
  const addCompany = db.prepare("INSERT INTO company VALUES (?, ?, ?)");
  names.forEach((name, index) => {
    if (kind === "user") addUser.run(index + 1, name);
    else addCompany.run(index + 1, name, membersOf(index));
  });
  buildNameIndex(db, kind);
  const { find } = openNames(db, kind);
  return { find: (query: string) => find(query, 10), close: db.close };
}

/** A search of the same names as the contract says. */
function searchOf(names: string[], kind: NameKind = "user") {
  return searchAsWritten(
    names.map((name, index) => {
      const folded = foldAsWritten(name);
      const weight = kind === "user" ? Array.from(folded).length : -membersOf(index);
      return { id: index + 1, folded, weight };
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
  test("finds what a reading of all names finds, in its order", () => {
    fc.assert(
      fc.property(community, ({ kind, names, queries }) => {
        const index = openNamesOf(names, kind);
        const search = searchOf(names, kind);
        for (const query of [...queries, ...names.slice(0, 20)]) {
          const result = { query, ids: index.find(query) };
          expect(result).toEqual({ query, ids: search(foldAsWritten(query)) });
        }
        index.close();
      }),
      { numRuns: runs(10) },
    );
  }, 60_000);

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
    names.forEach((name, at) => {
      expect(index.find(name)).toEqual([at + 1]);
      const character = characters[at] ?? "";
      if (!" ab".includes(character)) expect(index.find(character)).toContain(at + 1);
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
