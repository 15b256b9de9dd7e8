/** Tests that both the product and the oracle agree with the examples in src/search/README.md. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { normalizeQuery, spell, spellQuery } from "../../src/search/fold.ts";
import { matchesLoosely, spellLoosely } from "../../src/search/loose.ts";
import { hasWords, requiredWordsOf, tierOf } from "../../src/search/tiers.ts";
import { searchAsWritten, spellingsAsWritten } from "../oracle.ts";
import { root } from "../support.ts";

const text = await Bun.file(join(root, "src/search/README.md")).text();
const examples = [...text.matchAll(/^\| (`.+`) \| (.+) \| ([1-6]|none) \| .*\|$/gm)].flatMap(
  ([, queries = "", name = "", tier = ""]) =>
    [...queries.matchAll(/`(.+?)`/g)].map(([, query = ""]) => [query, name, tier] as const),
);

test("the table has 19 queries", () => expect(examples.length).toBe(19));

test.each(examples)("query %s, name %s: tier %s", (query, name, tier) => {
  const spellings = spell(name);
  const forms = spellQuery(normalizeQuery(query));
  const tiers: number[] = forms.flatMap((folded) => {
    const words = requiredWordsOf(folded);
    return tierOf(spellings, folded) ?? (words.length > 0 && hasWords(spellings, words) ? 5 : []);
  });
  if (matchesLoosely({ folded: spellings, name }, spellLoosely(query, forms))) tiers.push(6);
  expect(tiers.length > 0 ? String(Math.min(...tiers)) : "none").toBe(tier);
  const scan = searchAsWritten([{ id: 1, spellings: spellingsAsWritten(name), sortKey: 0 }]);
  expect(scan(query)).toEqual(tier === "none" || tier === "6" ? [] : [1]);
});

test("a mark belongs to the letter before it, so the letter after it begins no word", () => {
  for (const [name, query, tier] of [
    ["किरण", "रण", 4],
    ["का रण", "रण", 3],
    ["किरण", "कि", 2],
  ] as const)
    expect([name, query, tierOf(spell(name), spell(query))]).toEqual([name, query, tier]);
});
