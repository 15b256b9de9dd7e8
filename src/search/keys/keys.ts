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

const ASCII = /^[\x20-\x7e]*$/;
const HAS_KEYS =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Han}]/u;

/** More keys of a name are not stored. */
const MAX_KEYS = 4;

/** Letters that spell one consonant. */
const consonants: Record<string, string> = {
  sh: "s",
  sz: "s",
  tch: "c",
  ch: "c",
  ts: "c",
  tz: "c",
  cz: "c",
  tc: "c",
  zh: "z",
  kh: "h",
  gh: "g",
  ph: "f",
  th: "t",
  x: "ks",
  w: "v",
  q: "k",
};
const CONSONANTS = new RegExp(Object.keys(consonants).join("|"), "g");
/** In Serbian and Macedonian, j softens the consonant before it. */
const SOFTENED = /([dgk])j/g;
const SOFT_VOWELS = /[ijy]+(e?)|ou/g;
const HARD_VOWELS = /[iy]+(e?)|ou/g;
const DOUBLED = /(.)\1+/gu;

/** Returns the keys of a name, or none if it is in Latin letters. */
export function keysOfName(name: string): string[] {
  if (ASCII.test(name) || !HAS_KEYS.test(name)) return [];
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
  const single = folded
    .replace(CONSONANTS, (letters) => consonants[letters] ?? letters)
    .replace(/m(?=[bp])/g, "n");
  const soft = isHard ? single : single.replace(SOFTENED, "$1");
  return soft
    .replace(isHard ? HARD_VOWELS : SOFT_VOWELS, (vowels, e) => (vowels === "ou" ? "o" : e || "i"))
    .replace(DOUBLED, "$1");
}
