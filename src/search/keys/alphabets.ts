/**
 * Alphabets as tables of letters and their Latin spellings, which are written as pairs: "б b в v".
 * Armenian (ISO 9985, as passports simplify it) and Georgian (the national system of 2002) need little
 * else. cyrillic.ts and greek.ts add more rules.
 */
import { lazy } from "../../domain/lazy.ts";

/** Returns a function that replaces the letters of tables, the longest first. */
export function replaceBy(...tables: string[]): (text: string) => string {
  const read = lazy(() => readTables(tables));
  return (text) => {
    const { spellings, pattern } = read();
    return text.replace(pattern, (letter) => spellings.get(letter) ?? letter);
  };
}

function readTables(tables: string[]) {
  const spellings = readPairs(tables.join(" "));
  const letters = [...spellings.keys()];
  const groups = letters.filter(({ length }) => length > 1).sort((a, b) => b.length - a.length);
  const single = letters.filter(({ length }) => length === 1).join("");
  return { spellings, pattern: new RegExp([...groups, `[${single}]`].join("|"), "g") };
}

/** Reads a table. If it has two spellings of the same letters, the second counts. */
export function readPairs(table: string): Map<string, string> {
  const words = table.trim().split(/\s+/);
  const pairs = new Map<string, string>();
  for (let at = 0; at < words.length; at += 2) {
    pairs.set(words[at] ?? "", (words[at + 1] ?? "").replace(NONE, ""));
  }
  return pairs;
}

/** Stands for no letter in a table. */
const NONE = "-";

const spellArmenianLetters = replaceBy(`ու u և ev եւ ev
  ա a բ b գ g դ d ե e զ z է e ը y թ t ժ zh ի i լ l խ kh ծ ts կ k հ h ձ dz ղ gh ճ ch մ m յ y ն n շ sh
  ո o չ ch պ p ջ j ռ r ս s վ v տ t ր r ց ts ւ v փ p ք k օ o ֆ f`);

const spellGeorgianLetters =
  replaceBy(`ა a ბ b გ g დ d ე e ვ v ზ z თ t ი i კ k ლ l მ m ნ n ო o პ p ჟ zh
  რ r ს s ტ t უ u ფ p ქ k ღ gh ყ q შ sh ჩ ch ც ts ძ dz წ ts ჭ ch ხ kh ჯ j ჰ h`);

/** Returns the Latin spellings of a text in lower case. */
export function spellArmenian(text: string): string[] {
  const initial = text.replace(/(?<!\p{L})ո(?!ւ)/gu, "vo").replace(/(?<!\p{L})ե(?!ւ)/gu, "ye");
  return [spellArmenianLetters(initial)];
}

export const spellGeorgian = (text: string) => [spellGeorgianLetters(text)];
