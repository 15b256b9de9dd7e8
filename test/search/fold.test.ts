/** Tests properties of folding for every text, and the steps in src/search/README.md. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { fold } from "../../src/search/fold.ts";
import { runs } from "../runs.ts";

/** Characters that folding changes or treats specially. */
const special = fc.constantFrom(
  ..."a'’´ÅßŁıİΣςﷺﬁ한각가ガか゛ーـ\u0301\u0327\u3099\u1161\u093c\u0928\u200d\u00ad\u0007\t\u00a0 ",
);
const text = fc.string({ unit: fc.oneof(special, fc.string({ unit: "binary", maxLength: 1 })) });
const APOSTROPHES = /['’‘‛ʼʻ′＇`´]/;
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

  test("can leave characters side by side that folding again would compose", () => {
    expect(fold("\u1112\u200d\u1161")).toBe("\u1112\u1161");
  });

  test("keeps apostrophes that come from the decomposition", () => {
    expect(fold("ŉ″")).toBe("ʼn′′");
  });

  test.each([
    ["drops apostrophes", "' O'B’r‘i‛eʼn ʻ′＇`´", "obrien"],
    ["decomposes compatibility characters, then converts to lower case", "Ⅷ ＡＢ", "viii ab"],
    ["drops diacritics, then replaces letters", "Ǿ", "o"],
    ["converts to lower case, then replaces letters", "ŁÆÞ", "laeth"],
    ["drops diacritics that the conversion to lower case adds", "İ", "i"],
    ["replaces a final sigma", "ΟΔΟΣ", "οδοσ"],
    ["keeps marks that act as letters", "が हि", "が हि"],
    ["collapses white space last", "\u00a0 a\u200b \t\u0301 b ", "a b"],
  ])("%s", (_, text, folded) => {
    expect(fold(text)).toBe(folded);
  });
});
