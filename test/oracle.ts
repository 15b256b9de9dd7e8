/**
 * The contract's search (§4) as it is written: it reads all names, and shares no code with src. What
 * the index finds is compared with what this finds.
 */

export interface Named {
  id: number;
  folded: string;
  /** What comes before the id in a tier. */
  weight: number;
}

const special: Record<string, string> = {
  ł: "l",
  ø: "o",
  đ: "d",
  ð: "d",
  þ: "th",
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ı: "i",
  ħ: "h",
  ŧ: "t",
  ς: "σ",
};

export function foldAsWritten(text: string): string {
  const drop = (s: string) =>
    Array.from(s.normalize("NFKD"))
      .filter((c) => {
        const p = c.codePointAt(0) ?? 0;
        return !(
          (p >= 0x300 && p <= 0x36f) ||
          (p >= 0x1ab0 && p <= 0x1aff) ||
          (p >= 0x1dc0 && p <= 0x1dff) ||
          (p >= 0x20d0 && p <= 0x20ff) ||
          (p >= 0xfe20 && p <= 0xfe2f)
        );
      })
      .join("");
  const mapped = Array.from(drop(drop(text).toLowerCase()), (c) => special[c] ?? c).join("");
  return Array.from(mapped.normalize("NFC"))
    .filter((c) => /\p{White_Space}/u.test(c) || !/[\p{Cc}\p{Cf}]/u.test(c))
    .join("")
    .split(/\p{White_Space}+/u)
    .filter((word) => word !== "")
    .join(" ");
}

/** A search of these names: the ids of the first ten that a folded query finds. */
export function searchAsWritten(names: readonly Named[]): (f: string) => number[] {
  // One text, as a call of `includes` a name takes most of the time.
  const text = names.map(({ folded }) => `${folded}\n`).join("");
  const ends: number[] = [];
  for (const { folded } of names) ends.push((ends.at(-1) ?? 0) + folded.length + 1);

  return (f) => {
    if (f === "") return [];
    const words = f.split(" ");
    const [first = ""] = words;
    const isTierFive = words.length > 1 && words.every((word) => Array.from(word).length >= 2);
    const found: { tier: number; name: Named }[] = [];
    let at = 0;
    // Whatever the tier, the first word is in the name.
    for (let hit = text.indexOf(first); hit >= 0; hit = text.indexOf(first, ends[at - 1])) {
      while ((ends[at] ?? 0) <= hit) at++;
      const name = names[at++];
      const tier = name && tierAsWritten(name.folded, f, isTierFive ? words : undefined);
      if (name && tier !== undefined) found.push({ tier, name });
    }
    found.sort((a, b) => a.tier - b.tier || a.name.weight - b.name.weight || a.name.id - b.name.id);
    return found.slice(0, 10).map(({ name }) => name.id);
  };
}

/** A word start: marks belong to the letter before them. */
const wordStart = /(?<![\p{L}\p{N}]\p{M}*)[\p{L}\p{N}]/gu;

function tierAsWritten(name: string, f: string, words: string[] | undefined): number | undefined {
  if (name === f) return 1;
  if (name.startsWith(f)) return 2;
  if (name.includes(f)) {
    const starts = Array.from(name.matchAll(wordStart), ({ index }) => index);
    return starts.some((start) => name.startsWith(f, start)) ? 3 : 4;
  }
  return words?.every((word) => name.includes(word)) ? 5 : undefined;
}
