/** Tests properties of folding for every text, and the steps in src/search/README.md. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { fold } from "../../src/search/fold.ts";
import { spellingsAsWritten } from "../oracle.ts";
import { runs } from "../runs.ts";

/** Characters that folding changes or treats specially. */
const special = fc.constantFrom(
  ..."a'’´ÅßŁıİΣςﷺﬁəʔ٣–－يیكשׁ\ufe0fｶﾞ한각가ガか゛ーـ\u0301\u0327\u3099\u1161\u093c\u0928\u200d\u00ad\u0007\t\u00a0 ",
);
const text = fc.string({ unit: fc.oneof(special, fc.string({ unit: "binary", maxLength: 1 })) });
const APOSTROPHES = /['’‘‛ʼʻ′＇`´ʹ׳״]/;
const CONTROL = /(?!\p{White_Space})[\p{Cc}\p{Cf}]/gu;

describe("folding", () => {
  test("is idempotent for text without control and format characters or apostrophes", () => {
    fc.assert(
      fc.property(text, (text) => {
        const folded = fold(text.replace(CONTROL, ""));
        if (!APOSTROPHES.test(folded)) expect(fold(folded)).toBe(folded);
        // Boundary markers are control characters, so no folded text contains one.
        expect(fold(text)).not.toMatch(CONTROL);
      }),
      { numRuns: runs(1000) },
    );
  });

  test("is as written in the README for every character", () => {
    const different: string[] = [];
    for (let code = 0x20; code < 0xe01f0; code = code === 0x323af ? 0xe0000 : code + 1) {
      const name = `a${String.fromCodePoint(code)}b`;
      if (name.isWellFormed() && fold(name) !== spellingsAsWritten(name)[0]) different.push(name);
    }
    expect(different).toEqual([]);
  });

  test("can leave characters side by side that folding again would compose", () => {
    expect(fold("\u1112\u200d\u1161")).toBe("\u1112\u1161");
  });

  test("keeps apostrophes that come from the decomposition", () => {
    expect(fold("ŉ″")).toBe("ʼn′′");
  });

  test.each([
    ["drops apostrophes", "' O'B’r‘i‛eʼn ʻ′＇`´ʹ", "obrien"],
    ["drops variation selectors", "❤\ufe0f a\u{e0100}\u180b\u180f", "❤ a"],
    ["drops the vowel marks of Arabic, hamzas and the tatweel", "مُحَمَّد أحمـد آ ؤ", "محمد احمد ا و"],
    [
      "takes Arabic letters of other keyboards as the same",
      "علی فاطمة ٱلکريم ہھ",
      "علي فاطمه الكريم هه",
    ],
    [
      "drops the points of Hebrew, the geresh and the gershayim",
      "שָׁלוֹם ג׳ורג׳ צה״ל",
      "שלום גורג צהל",
    ],
    ["takes every dash as a hyphen", "a–b—c−d־e﹣f－g〜h", "a-b-c-d-e-f-g-h"],
    ["takes the digits of any script as 0 to 9", "٣ ۴ ५ ５ 𑷡 𝟙", "3 4 5 5 1 1"],
    [
      "spells every Latin letter in ASCII",
      "Ǝlİ ʀ ɓ ŋ ƶ ĸ ß æ œ þ ð đ ł ø ħ ŧ ı",
      "eli r b ng z q ss ae oe th d d l o h t i",
    ],
    ["takes half-width kana as full-width ones", "ｶﾞｯﾂ", "ガッツ"],
    ["decomposes compatibility characters, then converts to lower case", "Ⅷ ＡＢ", "viii ab"],
    ["drops diacritics, then replaces letters", "Ǿ\u1ab0\u1dc0\u20d0\ufe20", "o"],
    ["converts to lower case, then replaces letters", "ŁÆÞ", "laeth"],
    ["drops diacritics that the conversion to lower case adds", "İ", "i"],
    ["replaces a final sigma", "ΟΔΟΣ", "οδοσ"],
    ["keeps marks that act as letters", "が हि", "が हि"],
    ["collapses white space last", "\u00a0 a\u200b \t\u0301 b ", "a b"],
  ])("%s", (_, text, folded) => {
    expect(fold(text)).toBe(folded);
  });
});
