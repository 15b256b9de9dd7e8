/**
 * Adds soft hyphens to the long words in a page's main part. `hyphens: auto` needs to know the language
 * of a name, and a dictionary, which Chromium downloads only later.
 */
import { Html } from "./html.ts";

const VOWELS = "aeiouyàáâãäåæèéêëìíîïòóôõöøùúûüýÿœąęěőůűаеёиіїоуыэюяєαεηιουωάέήίόύώ";
const CONSONANT = `[\\p{L}--[${VOWELS}]]`;

const ONSET = `(?:sch[lmnrw]?|[cst]h|ph|ck|[bcdfgkpt]r|[bcfgkp]l|${CONSONANT})`;

/** A vowel and what follows it, up to the beginning of the next syllable. */
const SYLLABLE_END = new RegExp(
  `(?<=\\p{L})[${VOWELS}]\\p{L}{0,4}?(?=${ONSET}[${VOWELS}]\\p{L}{2})`,
  "giv",
);

/** A word without vowels has no syllables, and breaks anywhere. Attributes stay as they are. */
export function hyphenate({ text }: Html): Html {
  const hyphenated = text.replace(/>[^<]{16,}/g, (shown) =>
    shown.replace(/\p{L}{16,}/gu, (word) => word.replace(SYLLABLE_END, "$&\u00ad")),
  );
  return new Html(hyphenated);
}
