/** Names in hiragana and katakana, by the Hepburn romanisation of Japanese passports. */
import anyAscii from "any-ascii";

const KANA = /[\u3041-\u3096\u30a1-\u30fa]/g;
const SMALL = "ぁぃぅぇぉゃゅょゎァィゥェォャュョヮ";

/** Marks small kana, which change the kana before them. */
const spellKana = (kana: string) => (SMALL.includes(kana) ? "~" : "") + anyAscii(kana);

/** Returns the Latin spellings of a text. */
export function spellJapanese(text: string): string[] {
  const spelling = text
    // A doubled consonant and a long vowel are single in a key.
    .replace(/[っッー]/g, "")
    .replace(KANA, spellKana)
    .replace(/(sh|ch|j)i~y/g, "$1")
    .replace(/i~y/g, "y")
    .replace(/(sh|ch|j)i~(?=[aueo])/g, "$1")
    .replace(/[aiueo]~(?=[aiueo])/g, "")
    .replaceAll("~", "");
  return [spelling];
}
