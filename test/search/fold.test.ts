/** Folding: properties that hold for every text, and examples of src/search/README.md's steps. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { fold } from "../../src/search/fold.ts";
import { runs } from "../runs.ts";

/** Characters for which folding has a step. */
const special = fc.constantFrom(
  ..."aÅßŁıİΣςﷺﬁ한각가ガか゛ーـ\u0301\u0327\u3099\u1161\u093c\u0928\u200d\u00ad\u0007\t\u00a0 ",
);
const text = fc.string({ unit: fc.oneof(special, fc.string({ unit: "binary", maxLength: 1 })) });
const CONTROL = /(?!\p{White_Space})[\p{Cc}\p{Cf}]/gu;

describe("folding", () => {
  test("is idempotent for text without control and format characters", () => {
    fc.assert(
      fc.property(text, (text) => {
        const folded = fold(text.replace(CONTROL, ""));
        expect(fold(folded)).toBe(folded);
      }),
      { numRuns: runs(1000) },
    );
  });

  test("may leave composable characters side by side, which a second folding composes", () => {
    const jamo = "\u1112\u200d\u1161";
    expect(fold(jamo)).toBe("\u1112\u1161");
    expect(fold(fold(jamo))).toBe("하");
    fc.assert(
      fc.property(text, (text) => expect(fold(fold(fold(text)))).toBe(fold(fold(text)))),
      { numRuns: runs(1000) },
    );
  });

  test("removes all control characters, so a folded text has no boundary markers", () => {
    fc.assert(
      fc.property(text, (text) => expect(fold(text)).not.toMatch(CONTROL)),
      { numRuns: runs(1000) },
    );
  });

  test.each([
    ["decomposes compatibility characters, then lowers case", "Ⅷ ＡＢ", "viii ab"],
    ["drops diacritics, then maps letters", "Ǿ", "o"],
    ["lowers case, then maps letters", "ŁÆÞ", "laeth"],
    ["drops diacritics that lowering case leaves", "İ", "i"],
    ["maps a final sigma", "ΟΔΟΣ", "οδοσ"],
    ["keeps marks that act as letters", "が हि", "が हि"],
    ["collapses white space last", "\u00a0 a\u200b \t\u0301 b ", "a b"],
  ])("%s", (_, text, folded) => {
    expect(fold(text)).toBe(folded);
  });
});
