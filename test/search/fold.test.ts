/** What holds of folding whatever the text is. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { fold } from "../../src/search/fold.ts";
import { runs } from "../runs.ts";

/** Text of every plane, and often of what folding has a step for. */
const telling = fc.constantFrom(
  ..."aÅßŁıİΣςﷺﬁ한각가ガか゛ーـ\u0301\u0327\u3099\u1161\u093c\u0928\u200d\u00ad\u0007\t\u00a0 ",
);
const text = fc.string({ unit: fc.oneof(telling, fc.string({ unit: "binary", maxLength: 1 })) });
const CONTROL = /(?!\p{White_Space})[\p{Cc}\p{Cf}]/gu;

describe("folding", () => {
  test("is idempotent where there are no control and format characters", () => {
    fc.assert(
      fc.property(text, (any) => {
        const folded = fold(any.replace(CONTROL, ""));
        expect(fold(folded)).toBe(folded);
      }),
      { numRuns: runs(1000) },
    );
  });

  test("a character dropped last may leave apart what composes: once more, and it is settled", () => {
    const jamo = "\u1112\u200d\u1161";
    expect(fold(jamo)).toBe("\u1112\u1161");
    expect(fold(fold(jamo))).toBe("하");
    fc.assert(
      fc.property(text, (any) => expect(fold(fold(fold(any)))).toBe(fold(fold(any)))),
      { numRuns: runs(1000) },
    );
  });

  test("leaves no control character that the ngrams are marked with", () => {
    fc.assert(
      fc.property(text, (any) => expect(fold(any)).not.toMatch(CONTROL)),
      { numRuns: runs(1000) },
    );
  });

  test.each([
    ["compatibility before case", "Ⅷ ＡＢ", "viii ab"],
    ["marks before letters", "Ǿ", "o"],
    ["case before letters", "ŁÆÞ", "laeth"],
    ["case, then marks again", "İ", "i"],
    ["a final sigma", "ΟΔΟΣ", "οδοσ"],
    ["marks that are letters stay", "が हि", "が हि"],
    ["white space last", "\u00a0 a\u200b \t\u0301 b ", "a b"],
  ])("%s", (_, any, folded) => {
    expect(fold(any)).toBe(folded);
  });
});
