/** The files of data/languages. test/web/view.test.ts checks the page's texts. */
import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { languages } from "../../src/domain/languages.ts";
import { fold } from "../../src/search/fold.ts";
import { toPublic } from "../../src/tables/columns.ts";
import { root } from "../support.ts";

test("src/domain/languages.ts lists every file of data/languages", () => {
  const files = readdirSync(join(root, "data/languages"));
  expect(files.sort()).toEqual(
    Object.keys(languages)
      .map((code) => `${code}.json`)
      .sort(),
  );
});

describe.each(Object.entries(languages))("in the language %s", (_, { booleans, badges }) => {
  test("the words for true and false are lower-case, and mean the same in each language", () => {
    for (const word of booleans.true) expect([word, toPublic(word)]).toEqual([word, true]);
    for (const word of booleans.false) expect([word, toPublic(word)]).toEqual([word, false]);

    const words = [...booleans.true, ...booleans.false];
    expect(words).toEqual(words.map((word) => word.toLowerCase()));
    const meanings = Object.values(languages).map((each) => each.booleans);
    for (const word of booleans.false)
      expect(meanings.filter((each) => each.true.includes(word))).toEqual([]);
  });

  test("the words of badges are folded, as the text that they are compared with is", () => {
    const folded = Object.entries(badges).map(([symbol, words]) => [symbol, fold(words)]);
    expect<object>(badges).toEqual(Object.fromEntries(folded));
    // An empty alternative would match any text.
    const empty = Object.entries(badges).filter(([, words]) => words.split("|").includes(""));
    expect(empty).toEqual([]);
  });
});
