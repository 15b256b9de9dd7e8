/**
 * Names in Cyrillic. The letters are those of ICAO Doc 9303 (part 3, section 6B), which Russian,
 * Belarusian and Macedonian passports use, except where a key makes no difference anyway. What other
 * countries spell in another way has a table of its own.
 */
import { replaceBy } from "./table.ts";

const common = `а a б b в v г g д d е e ё e ж zh з z и i й i к k л l м m н n о o п p р r с s т t у u
  ф f х kh ц ts ч ch ш sh щ shch ъ - ы y ь - э e ю iu я ia
  і i ї i є ie ґ g ў u ’ - ' -
  ђ dj ћ c љ lj њ nj џ dzh ј j ѓ gj ќ kj ѕ dz
  қ k ғ g ң n ү u ұ u һ h ә a ө o җ zh`;

/** The Ukrainian cabinet's resolution 55 (KMU 2010), also Belarusian: г is h, and и is y. */
const ukrainian = "г h зг zgh";
/** The Bulgarian transliteration law of 2009. */
const bulgarian = "щ sht ъ a";
/** As most people spell ё, and GOST R 52535. */
const russian = "ё yo ьо yo ьё yo";

const spellCommon = replaceBy(common);
const spellUkrainian = replaceBy(common, ukrainian);
const spellBulgarian = replaceBy(common, bulgarian);
const spellRussian = replaceBy(common, russian);

/** Returns the Latin spellings of a text in lower case. */
export function spellCyrillic(text: string): string[] {
  const spellings = [spellCommon(text)];
  if (/г/.test(text) && (/[іїєґў]/.test(text) || !/[ыэёъ]/.test(text))) {
    spellings.push(spellUkrainian(text));
  }
  if (/[щъ]/.test(text)) spellings.push(spellBulgarian(text));
  if (/ё|ьо/.test(text)) spellings.push(spellRussian(text));
  return spellings;
}

/** Spellings of names that are stored in Latin letters. */
const inUse = [
  "",
  "ю yu я ya ё yo й y ий y ый y",
  "ю yu я ya ё yo й y",
  "ю yu я ya ия ia ія ia ё yo ий y й y",
  "г h и y й i ю iu я ia",
  "ж z ч c ш s ц c х h й j ю ju я ja ё jo щ sc",
  `х h ю yu я ya й y ${bulgarian}`,
  "х h ц c ю ju я ja й j",
].map((table) => replaceBy(common, table));

/** Returns the Latin spellings of a query in lower case. */
export function spellCyrillicInUse(text: string): string[] {
  // In Ukrainian, these letters are spelled in another way at the beginning of a word.
  const initial = text.replace(/(?<!\p{L})[юяєї]/gu, (letter) => initials[letter] ?? letter);
  return [text, initial].flatMap((each) => inUse.map((spell) => spell(each)));
}

const initials: Record<string, string> = { ю: "yu", я: "ya", є: "ye", ї: "yi" };
