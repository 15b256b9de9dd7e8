/** The name index finds the same names as test/oracle.ts, which scans all names. */
import { describe, expect, test } from "bun:test";
import { constants, DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import type { NameKind } from "../../src/domain/model.ts";
import { NameSearch } from "../../src/search/find.ts";
import { fold, normalizeQuery, spell } from "../../src/search/fold.ts";
import { NameChanges } from "../../src/search/name-index.ts";
import { SLICE } from "../../src/search/ngrams.ts";
import { ngramOf } from "../../src/search/terms.ts";
import type { Sqlite } from "../../src/sqlite/driver.ts";
import { searchAsWritten, spellingsAsWritten } from "../oracle.ts";
import { runs } from "../runs.ts";
import { membersOf, openNames, openSearch, similarNames } from "./similar-names.ts";

type Search = (query: string) => number[];

/** Counts each n-gram as one of so many names that a search for words pauses at every place it can. */
function makeCommon(client: Sqlite, kind: NameKind): void {
  client.exec(`CREATE VIRTUAL TABLE temp.all_terms USING fts5vocab(main, ${kind}_ngram, row)`);
  const terms = client.prepare<{ term: string }>("SELECT term FROM temp.all_terms").all();
  const count = client.prepare(`INSERT OR REPLACE INTO ${kind}_common VALUES (?, 1000000)`);
  for (const { term } of terms) count.run(ngramOf(term));
}

/** A search that pauses does so after as many names, instead of the thousands of an import. */
const SLICE_NAMES = 50;

/** Gives some records, by id, another name, or removes them. */
function change(client: Sqlite, kind: NameKind, names: Map<number, string | undefined>): void {
  const changes = new NameChanges(client);
  const setName = client.prepare(`UPDATE ${kind} SET name = ?, folded = ? WHERE id = ?`);
  const remove = client.prepare(`DELETE FROM ${kind} WHERE id = ?`);
  for (const [id, name] of names) {
    changes.note(kind, id);
    if (name === undefined) remove.run(id);
    else setName.run(name, spell(name), id);
  }
  changes.finish();
}

/** `names` are by index, and undefined if there is no such record. */
function scan(names: readonly (string | undefined)[], kind: NameKind = "user"): Search {
  return searchAsWritten(
    names.flatMap((name, index) => {
      if (name === undefined) return [];
      const spellings = spellingsAsWritten(name);
      const sortKey = kind === "user" ? Array.from(spellings[0] ?? "").length : -membersOf(index);
      return [{ id: index + 1, spellings, sortKey }];
    }),
  );
}

/**
 * Throws unless a scan of `names`, which are by index, has the same results. An assertion would print
 * all ids, but no name.
 */
function expectSame(
  find: Search,
  names: readonly (string | undefined)[],
  queries: string[],
  kind: NameKind = "user",
): void {
  const search = scan(names, kind);
  const show = (ids: number[]) =>
    ids.map((id) => `${id} ${JSON.stringify(names[id - 1]?.slice(0, 40))}`).join(", ");
  for (const query of queries) {
    const expected = search(query);
    // Names that match loosely follow after those that a scan finds.
    const got = find(query).slice(0, expected.length);
    if (Bun.deepEquals(got, expected)) continue;
    throw new Error(
      `query ${JSON.stringify(query)}:\n     got [${show(got)}],\nexpected [${show(expected)}]`,
    );
  }
}

type Outcome = Pick<
  fc.RunDetails<unknown>,
  "failed" | "errorInstance" | "seed" | "counterexamplePath"
>;

/** Shrinking 600 names takes minutes, and printing them fills the screen. */
const parametersFor = (times: number) => ({
  numRuns: runs(times),
  endOnFailure: true,
  reporter: ({ failed, errorInstance, seed, counterexamplePath: path }: Outcome) => {
    if (!failed) return;
    console.error(`To have the same names again, add seed: ${seed}, path: "${path}"`);
    throw errorInstance;
  },
});

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
 * All 600 names use one small alphabet, so most queries match more names than are compared at once.
 * In some runs, every name begins with a letter that no random query has, so the queries match only
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
  test("finds the same names in the same order as a full scan", () => {
    fc.assert(
      fc.property(community, ({ kind, names, queries }) => {
        const { find, close } = openNames(names, kind);
        expectSame(find, names, [...queries, ...names.slice(0, 20)], kind);
        close();
      }),
      parametersFor(10),
    );
  });

  test("finds the same names as a full scan after several changes", () => {
    fc.assert(
      fc.property(community, ({ kind, names, queries }) => {
        const { client, find, close } = openNames(names, kind);
        const changed: (string | undefined)[] = [...names];
        for (let round = 0; round < 20; round++) {
          const at = (7 * round) % 40;
          const step = new Map<number, string | undefined>();
          for (let index = at; index < names.length; index += 40) {
            changed[index] = round % 3 === 2 ? undefined : names[(index + round) % names.length];
            // A record that has been removed is not there to be renamed.
            step.set(index + 1, changed[index]);
          }
          change(client, kind, step);
          if (round % 5 === 4) expectSame(find, changed, queries, kind);
        }
        close();
      }),
      parametersFor(3),
    );
  });

  test("finds the same names as a full scan when it pauses, also after changes", () => {
    let pauses = 0;
    fc.assert(
      fc.property(community, ({ kind, names, queries }) => {
        const { client, close } = openNames(names, kind, SLICE_NAMES);
        makeCommon(client, kind);
        const search = new NameSearch(client, kind);
        const find: Search = (query) => {
          const steps = search.find(normalizeQuery(query));
          for (; ; pauses++) {
            const { done, value } = steps.next();
            if (done) return value;
          }
        };
        const words = queries.map((query, at) => `${query} ${queries.at(at - 1)}`);
        expectSame(find, names, words, kind);
        const changed = names.map((name, at) => (at % 2 ? names.at(at - 2) : name));
        change(client, kind, new Map(changed.map((name, at) => [at + 1, name])));
        expectSame(find, changed, words, kind);
        close();
      }),
      parametersFor(10),
    );
    expect(pauses).toBeGreaterThan(1000);
  });

  test("leaves no trace of removed names, also where it could pause", () => {
    const names = Array.from({ length: 100 }, (_, at) => `driver ${at}`);
    const { client, close } = openNames(names, "user", SLICE_NAMES);
    const listed = client.prepare(
      `SELECT rowid & 0xffffffff AS id FROM user_ngram WHERE user_ngram MATCH '${SLICE}'`,
    );
    expect(listed.all()).toEqual([{ id: 1 }, { id: 51 }]);
    change(client, "user", new Map(names.map((_, at) => [at + 1, undefined])));
    expect(listed.all()).toEqual([]);
    close();
  });

  test.each(Object.entries(similarNames))(
    "finds the same names as a full scan when thousands are similar: %s",
    (_, { kind, count, name, queries, worst = [] }) => {
      const names = Array.from({ length: Math.min(500, count / 16) }, (_, at) => name(at));
      const { client, close } = openNames(names, kind);
      expectSame(openSearch(client, kind), names, [...queries, ...worst], kind);
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

  test("compares few names with a query whose n-grams are common, but not together", () => {
    const words = ["san", "ans", "nsa", "сан", "papa", "παπα"];
    const drivers = Array.from({ length: 7200 }, (_, at) => `${words[at % 6]} driver ${at}`);
    const names = [...drivers, "Papapas", "Παπάπας"];
    const { client, find, close } = openNames(names);
    if (!(client instanceof DatabaseSync)) throw new TypeError("expected node:sqlite");
    let compared = 0;
    client.function("instr", (name, text) => {
      compared++;
      return Number(String(name).includes(String(text)));
    });
    for (const query of ["sansansan", "сансансан", "ansan", "nsans"]) {
      expect(find(query)).toEqual([]);
    }
    expect(["apapa", "απαπα"].map(find)).toEqual([
      [7201, 7202],
      [7201, 7202],
    ]);
    expect(find("driver 1234")).toEqual([1235]);
    expect(compared).toBeWithin(1, 100);
    close();
  });

  test("compiles its statements once, whatever the query", () => {
    const { client, find, close } = openNames(["Anna Nowak", "Hanna", "Ben"]);
    let compilations = 0;
    if (!(client instanceof DatabaseSync)) throw new TypeError("expected node:sqlite");
    client.setAuthorizer((action, table) => {
      if (action === constants.SQLITE_READ && table === "user_ngram") compilations++;
      return constants.SQLITE_OK;
    });
    const search = () => ["an", "nna", "hanna", "nowak anna"].map(find);
    // An authorizer has every statement compiled once more.
    search();
    expect(compilations).not.toBe(0);
    compilations = 0;
    expect(search()).not.toContainEqual([]);
    expect(compilations).toBe(0);
    close();
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
    expectSame(index.find, names, [...names, ...characters]);
    index.close();
  });
});
