/**
 * Names in Cyrillic. The letters are those of ICAO Doc 9303 (part 3, section 6B), which Russian,
 * Belarusian and Macedonian passports use, except where a key makes no difference anyway. What other
 * countries spell in another way has a table of its own.
 */
import { replaceBy } from "./alphabets.ts";

const common = `а a б b в v г g д d е e ё e ж zh з z и i й i к k л l м m н n о o п p р r с s т t у u
  ф f х kh ц ts ч ch ш sh щ shch ъ - ы y ь - э e ю iu я ia
  і i ї i є ie ґ g ў u ’ - ' -
  ђ dj ћ c љ lj њ nj џ dzh ј j ѓ gj ќ kj ѕ dz
  қ k ғ g ң n ү u ұ u һ h ә a ө o җ zh`;

/** The Ukrainian cabinet's resolution 55 of 2010, also for Belarusian: г is h. */
const ukrainian = "г h зг zgh";
/** The Bulgarian transliteration law of 2009. */
const bulgarian = "щ sht ъ a";
/** Macedonian passports spell џ as dj, and Serbian neighbours ѓ as đ and ќ as ć. */
const macedonian = "џ dj ѓ dj ќ c";
/** As most people spell ё. */
const russian = "ё yo ьо yo ьё yo";

/** Each spelling that some names have besides the common one. */
const others: [isFor: (text: string) => boolean, spell: (text: string) => string][] = [
  [
    (text) => text.includes("г") && (/[іїєґў]/.test(text) || !/[ыэёъ]/.test(text)),
    replaceBy(common, ukrainian),
  ],
  [(text) => /[щъ]/.test(text), replaceBy(common, bulgarian)],
  [(text) => /[џѓќ]/.test(text), replaceBy(common, macedonian)],
  [(text) => /ё|ьо/.test(text), replaceBy(common, russian)],
];
const spellCommon = replaceBy(common);

/** Returns the Latin spellings of a name in lower case. */
export function spellCyrillic(text: string): string[] {
  const own = others.filter(([isFor]) => isFor(text)).map(([, spell]) => spell(text));
  return [spellCommon(text), ...own];
}

/** BGN/PCGN 1947: е is ye at the start of a word and after vowels and signs. */
const afterVowel = (text: string) => text.replace(/(?<![бвгджзйклмнпрстфхцчшщ])е/g, "ye");
/** Resolution 55: these letters have another spelling at the start of a word. */
const atStart = (text: string) =>
  text.replace(/(?<![\p{L}'’ʼ])[юяєї]/gu, (letter) => initialVowels[letter] ?? letter);
const initialVowels: Record<string, string> = { ю: "yu", я: "ya", є: "ye", ї: "yi" };
const same = (text: string) => text;

/** The spellings in use of names that are stored in Latin letters. */
const inUse = [
  [same, ""],
  [same, "ю yu я ya ё yo й y ий y ый y"],
  [same, "ю yu я ya ё yo й y"],
  [same, "ю yu я ya ия ia ія ia ё yo ий y й y"],
  [afterVowel, "ю yu я ya ё yo й y"],
  [afterVowel, "ю yu я ya ё yo й y ий y ый y"],
  [atStart, "г h и y й i ю iu я ia"],
  [same, "ж z ч c ш s ц c х h й j ю ju я ja ё jo щ sc ђ d џ dz"],
  [same, "ж z ч c ш s ц c х h й j ю ju я ja ё jo щ sc џ dz"],
  [same, `х h ю yu я ya й y ${bulgarian}`],
  [same, `х h ц c ю ju я ja й j ${macedonian}`],
] as const;
const spellersInUse = inUse.map(([prepare, table]) => {
  const spell = replaceBy(common, table);
  return (text: string) => spell(prepare(text));
});

/** Returns the Latin spellings of a query in lower case. */
export const spellCyrillicInUse = (text: string) => spellersInUse.map((spell) => spell(text));
