/**
 * Keys: what the Latin spellings of a name that are in use have in common. README.md has the rules, and
 * the other files of this folder the letters of each script.
 */
import { fold } from "../fold.ts";
import { spellArmenian, spellGeorgian } from "./caucasian.ts";
import { spellCyrillic, spellCyrillicInUse } from "./cyrillic.ts";
import { spellGreek } from "./greek.ts";
import { spellChinese } from "./han.ts";
import { spellKorean } from "./hangul.ts";
import { spellJapanese } from "./kana.ts";

const spellers: [RegExp, (text: string) => string[]][] = [
  [/\p{Script=Cyrillic}/u, spellCyrillic],
  [/\p{Script=Greek}/u, spellGreek],
  [/\p{Script=Armenian}/u, spellArmenian],
  [/\p{Script=Georgian}/u, spellGeorgian],
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/u, spellJapanese],
  [/\p{Script=Hangul}/u, spellKorean],
  [/\p{Script=Han}/u, spellChinese],
];

const HAS_KEYS =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Han}]/u;

/** More keys of a name are not stored. */
const MAX_KEYS = 4;

/** Pairs of letters that spell one consonant. */
const digraphs: [RegExp, string][] = [
  [/sh|sz/g, "s"],
  [/tch|ch|ts|tz|cz|tc/g, "c"],
  [/zh/g, "z"],
  [/kh/g, "h"],
  [/gh/g, "g"],
  [/ph/g, "f"],
  [/th/g, "t"],
  [/x/g, "ks"],
  [/w/g, "v"],
  [/q/g, "k"],
  [/m(?=[bp])/g, "n"],
];
const vowels: [RegExp, string][] = [
  [/[iy]+/g, "i"],
  [/ie/g, "e"],
  [/ou/g, "o"],
  [/(.)\1+/gu, "$1"],
];
const hardRules = [...digraphs, ...vowels];
/** In Serbian and Macedonian, j softens the consonant before it. */
const softRules: typeof hardRules = [...digraphs, [/([dgk])j/g, "$1"], [/j/g, "y"], ...vowels];

/** Returns the keys of a name, or none if it is in Latin letters. */
export function keysOfName(name: string): string[] {
  if (!HAS_KEYS.test(name)) return [];
  const text = name.normalize("NFKC").toLowerCase();
  const spellings = spellers
    .filter(([script]) => script.test(text))
    .reduce((found, [, spell]) => found.flatMap(spell), [text]);
  const isHard = !/\p{Script=Cyrillic}/u.test(text);
  return [...new Set(spellings.map((spelling) => keyOf(fold(spelling), isHard)))].slice(
    0,
    MAX_KEYS,
  );
}

/** Returns the Latin spellings that are in use for a query in Cyrillic or Greek. */
export function spellingsInUse(query: string): string[] {
  const text = query.normalize("NFKC").toLowerCase();
  if (/\p{Script=Cyrillic}/u.test(text)) return spellCyrillicInUse(text);
  return /\p{Script=Greek}/u.test(text) ? spellGreek(text) : [];
}

/** Returns the keys of a folded query in Latin letters. */
export function keysOfQuery(folded: string): string[] {
  const spellings = [folded];
  // Ch may be h, as in Greek and Polish, and c k.
  if (/c/.test(folded)) spellings.push(folded.replace(/ch/g, "kh").replace(/c/g, "k"));
  // A long o may be written oh in Japanese.
  if (/oh/.test(folded)) spellings.push(folded.replace(/oh(?![aiueoy])/g, "o"));
  return [
    ...new Set(
      spellings.flatMap((spelling) =>
        /j/.test(spelling)
          ? [keyOf(spelling, false), keyOf(spelling, true)]
          : [keyOf(spelling, false)],
      ),
    ),
  ];
}

/** A hard j is a consonant, as in Japanese, and a soft one is like y, as in Serbian. */
function keyOf(folded: string, isHard: boolean): string {
  const rules = isHard ? hardRules : softRules;
  return rules.reduce((key, [letters, replacement]) => key.replace(letters, replacement), folded);
}
