/** Tests that names can be found from any keyboard, under the spellings in src/search/README.md. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { normalizeQuery, SPELLING_END, spell, spellQuery } from "../../src/search/fold.ts";
import { spellingsAsWritten } from "../oracle.ts";
import { runs } from "../runs.ts";
import { openNames } from "./similar-names.ts";

const names = [
  ..."Иванов,Пётр Сидоров,Γιώργος Οικονόμου,たなか,김민준,Müller,Åsa".split(","),
  ..."Jørgensen,Ivanov,Παπαδοπούλος,ΠΑΠΑΔΌΠΟΥΛΟΣ,O'Brien,O’Brien".split(","),
];

/** Opens a search that returns names. */
function open(names: string[]) {
  const { find } = openNames(names);
  return (query: string) => find(query).map((id) => names[id - 1]);
}

describe("a search", () => {
  const find = open(names);

  test.each([
    ["ivanov", ["Ivanov", "Иванов"]],
    ["petr sidorov", ["Пётр Сидоров"]],
    ["sidorov пётр", ["Пётр Сидоров"]],
    ["oikonomou", ["Γιώργος Οικονόμου"]],
    ["papadopoulos", ["ΠΑΠΑΔΌΠΟΥΛΟΣ", "Παπαδοπούλος"]],
    ["obrien", ["O'Brien", "O’Brien"]],
    ["o´brien", ["O'Brien", "O’Brien"]],
    ["tanaka", ["たなか"]],
    ["gimminjun", ["김민준"]],
    ["mueller", ["Müller"]],
    ["aasa", ["Åsa"]],
    ["joergensen", ["Jørgensen"]],
    // Queries have no digraph spelling, and Han characters have no Latin spelling.
    ["muellér", ["Müller"]],
    ["tian zhong", []],
  ])("for %s finds only %j", (query, expected) => {
    expect(find(query).sort()).toEqual([...expected].sort());
  });

  test("sorts by the tier of the best spelling, then by the name itself", () => {
    // Both names have a spelling that equals the query, and both names have six code points.
    expect(find("ivanov")).toEqual(["Иванов", "Ivanov"]);
  });
});

test("a spelling that equals the query comes before spellings that only begin with the query", () => {
  // At least twelve names earlier in rank order have a spelling that begins with "shchuka" or
  // "igor".
  const shorter = Array.from({ length: 12 }, (_, at) => `Щука${"ъ".repeat(at % 2)}х`);
  const longer = Array.from({ length: 12 }, () => "Igora");
  const people = [...shorter, ...longer, "Shchuka", "Игорь", `${"Щ".repeat(16)}ь`];
  const long = Array.from({ length: 12 }, () => `${"Щ".repeat(16)}`);
  const find = open([...people, ...long]);
  expect(find("shchuka")[0]).toBe("Shchuka");
  expect(find("igor")[0]).toBe("Игорь");
  expect(find("shch".repeat(16))[0]).toBe("Щ".repeat(16));
});

/** Each letter and its two spellings, without the mark and as two letters. */
const umlauts = ["ä a ae", "ö o oe", "ü u ue", "å a aa", "ø o oe", "đ d dj", "ə e a"];
test.each(umlauts)("%s: each has both spellings, also as a capital and decomposed", (row) => {
  const [letter = "", ...spellings] = row.split(" ");
  for (const written of [letter, letter.toUpperCase(), letter.normalize("NFD")]) {
    expect(spell(written).split(SPELLING_END)).toEqual(spellings);
  }
});

test.each([
  ["Greek, where ου is one sound", "Λούκας ΟΥΡΑΝΟΣ ουζο οϋ", "loukas ouranos ouzo oy"],
  ["Cyrillic", "Щука", "shchuka"],
  ["Armenian", "Արամ", "aram"],
  ["Georgian", "გია", "gia"],
  ["Hiragana", "さくら", "sakura"],
  ["Katakana", "サクラ", "sakura"],
  ["Hangul", "한나", "hanna"],
])("a name in %s has a spelling in Latin letters", (_, name, spelling) => {
  expect(spell(name).split(SPELLING_END)).toContain(spelling);
});

const text = fc.string({
  unit: fc.constantFrom(..."aBе Жщьёíöø'ÅΩ한があ田́"),
  minLength: 1,
  maxLength: 12,
});

test("the spellings of a name are distinct and start with the name itself", () => {
  fc.assert(
    fc.property(text, (name) => {
      const [itself, ...others] = spellingsAsWritten(name);
      const expected = new Set([itself, ...others.filter((spelling) => spelling !== "")]);
      expect(spell(name).split(SPELLING_END)).toEqual([...expected] as string[]);
    }),
    { numRuns: runs(300) },
  );
});

test.each([
  ["letters", "", "x", 400, ""],
  ["letters and marks in NFD", "", "\u03b1\u0313\u0300\u0345", 400, ""],
  ["jamo", "", "\u1100\u1161\u11a8", 400, ""],
  ["letters that are three code points in NFC", "", "\u{1d160}", 133, ""],
  ["marks after a letter", "a", "\u0300", 400, ""],
  // In NFC, the dot and the first macron are part of the letter.
  ["marks before another that joins the letter", "l", "\u0304", 400, "\u0323"],
])("a query has at most 400 code points in NFC: %s", (_, start, piece, count, end) => {
  const spellings = (times: number) =>
    spellQuery(normalizeQuery(start + piece.repeat(times) + end)).length;
  expect([spellings(count) > 0, spellings(count + 1)]).toEqual([true, 0]);
  // Text of any length is refused without normalizing all of it, which would take minutes.
  expect(spellings(100_000)).toBe(0);
});
