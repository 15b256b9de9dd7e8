/** Whether a name matches a query loosely, which is tier 6. README.md has the rules. */
import { hasCodePoints } from "../domain/text.ts";
import { fold, SPELLING_END, type SpelledName, TRANSLITERATED } from "./fold.ts";
import { keysOfName, keysOfQuery, spellingsInUse } from "./keys/keys.ts";
import { compactOf, wordStartsOf } from "./tiers.ts";

/** How short a loose spelling of a query may be. */
const MIN_LOOSE_CODE_POINTS = 3;

/**
 * The texts by which a query finds names of tier 6, at the start of a word. In these texts, nothing
 * divides words, or a name is in Latin letters as passports, laws or friends spell it.
 */
export interface LooseQuery {
  /** Compared with the spellings of names. */
  compact: string[];
  /** Compared with the keys of names. */
  keys: string[];
}

/** Takes the spellings of a query, the first of which is the query itself. */
export function spellLoosely(query: string, spellings: string[]): LooseQuery {
  const [folded = ""] = spellings;
  const isLatin = folded.search(TRANSLITERATED) < 0;
  return {
    compact: compactForms([...spellings, ...(isLatin ? [] : spellingsInUse(query))]),
    keys: isLatin && /[a-z]/.test(folded) ? keysOfQuery(folded).filter(isLongEnough) : [],
  };
}

function compactForms(texts: string[]): string[] {
  return [...new Set(texts.map((text) => compactOf(fold(text))))].filter(isLongEnough);
}

const isLongEnough = (text: string) => hasCodePoints(text, MIN_LOOSE_CODE_POINTS);

/** Returns the spellings of a name that are compared without dividers: its own and its Latin one. */
export function dividedSpellings(folded: string): string[] {
  const [own = "", ...others] = folded.split(SPELLING_END);
  const last = others.at(-1);
  return last === undefined || own.search(TRANSLITERATED) < 0 ? [own] : [own, last];
}

/** Whether one of the texts begins with the query at the start of a word. */
function beginsWord(texts: string[], compactQuery: string): boolean {
  return texts.some(
    (text) =>
      compactOf(text).includes(compactQuery) &&
      wordStartsOf(text).some((start) => compactOf(text.slice(start)).startsWith(compactQuery)),
  );
}

export function matchesLoosely(
  { folded, name }: SpelledName,
  { compact, keys }: LooseQuery,
): boolean {
  const spellings = dividedSpellings(folded);
  if (compact.some((text) => beginsWord(spellings, text))) return true;
  if (keys.length === 0) return false;
  const keysOfThis = keysOfName(name);
  return keys.some((query) => keysOfThis.some((key) => key.startsWith(query)));
}
