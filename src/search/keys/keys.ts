/**
 * Keys: what the Latin spellings of a name that are in use have in common. README.md has the rules, and
 * the other files of this folder the letters of each script.
 */
import { fold, TRANSLITERATED } from "../fold.ts";
import { wordsIn } from "../tiers.ts";
import { replaceBy, spellArmenian, spellGeorgian } from "./alphabets.ts";
import { spellCyrillic, spellCyrillicInUse } from "./cyrillic.ts";
import { spellChinese, spellJapanese, spellKorean } from "./east-asian.ts";
import { spellGreek, spellGreekInUse } from "./greek.ts";

const scripts: [RegExp, (text: string) => string[]][] = [
  [/\p{Script=Cyrillic}/u, spellCyrillic],
  [/\p{Script=Greek}/u, spellGreek],
  [/\p{Script=Armenian}/u, spellArmenian],
  [/\p{Script=Georgian}/u, spellGeorgian],
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/u, spellJapanese],
  [/\p{Script=Hangul}/u, spellKorean],
  [/\p{Script=Han}/u, spellChinese],
  // Besides the letters that have digraphs, such as ö, Azerbaijani has one that is spelled a.
  [/ə/, (text) => [text.replaceAll("ə", "a")]],
];

const ASCII = /^[\x20-\x7e]*$/;
const HAS_KEYS = new RegExp(`[${TRANSLITERATED.source}\\p{Script=Han}ə]`, "iv");

/** How many distinct spellings of a name have keys. */
const MAX_SPELLINGS = 4;

/** Replaces letters that spell one consonant. */
const simplifyConsonants = replaceBy(
  "sh s sz s tch c ch c ts c tz c cz c tc c zh z kh h gh g ph f th t x ks w v q k",
);
const DOUBLED = /(.)\1+/gu;

/**
 * Returns the keys of a name from each of its words on, or none if it is in Latin letters. Words are
 * joined, so that it does not matter where a query divides them.
 */
export function keysOfName(name: string): string[] {
  if (ASCII.test(name) || !HAS_KEYS.test(name)) return [];
  const text = name.normalize("NFKC").toLowerCase();
  const isHard = !/\p{Script=Cyrillic}/u.test(text);
  const keys = new Map<string, string[]>();
  for (const spelling of new Set(spellInLatin(text))) {
    if (keys.size === MAX_SPELLINGS) break;
    const words = wordsIn(fold(spelling));
    const fromEachWord = words.map((_, at) => keyOf(words.slice(at).join(""), isHard));
    keys.set(fromEachWord.join(" "), fromEachWord);
  }
  return [...new Set([...keys.values()].flat())];
}

function spellInLatin(text: string): string[] {
  let spellings = [text];
  for (const [script, spell] of scripts) {
    if (script.test(text)) spellings = spellings.flatMap((spelling) => spell(spelling));
  }
  return spellings;
}

/** Returns the Latin spellings that are in use for a query in Cyrillic or Greek. */
export function spellingsInUse(query: string): string[] {
  const text = query.normalize("NFKC").toLowerCase();
  if (/\p{Script=Cyrillic}/u.test(text)) return spellCyrillicInUse(text);
  return /\p{Script=Greek}/u.test(text) ? spellGreekInUse(text) : [];
}

/** Returns the keys of a folded query in Latin letters. */
export function keysOfQuery(folded: string): string[] {
  const joined = wordsIn(folded).join("");
  const spellings = [joined];
  // Ch may be h, as in Greek and Polish, and c k.
  if (joined.includes("c")) spellings.push(joined.replaceAll("ch", "kh").replaceAll("c", "k"));
  // A long o may be written oh in Japanese.
  if (joined.includes("oh")) spellings.push(joined.replace(/oh(?![aiueoy])/g, "o"));
  // The y or k at the end of an unfinished name may be the beginning of ye or kh.
  if (joined.endsWith("y")) spellings.push(`${joined}e`);
  if (joined.endsWith("k")) spellings.push(`${joined}h`);
  const keys = spellings.flatMap((spelling) =>
    [false, true].map((isHard) => keyOf(spelling, isHard)),
  );
  return [...new Set(keys)];
}

/** A hard j is a consonant, as in Japanese, and a soft one is like y, as in Serbian. */
function keyOf(joined: string, isHard: boolean): string {
  const single = simplifyConsonants(joined).replace(/m(?=[bp])/g, "n");
  return (isHard ? single : soften(single))
    .replace(/[iy]+e/g, "e")
    .replace(/[iy]+/g, "i")
    .replaceAll("ou", "o")
    .replace(DOUBLED, "$1");
}

/** In Serbian and Macedonian, j softens the consonant before it. */
const soften = (text: string) => text.replace(/(?<=[dgk])j/g, "").replaceAll("j", "y");
