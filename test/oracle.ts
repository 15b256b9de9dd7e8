/**
 * An independent implementation of src/search/README.md. It compares every name with the query and
 * shares no code with src. Tests expect the index to return the same results.
 */
import anyAscii from "any-ascii";

export interface Named {
  id: number;
  spellings: string[];
  sortKey: number;
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

const apostrophes = [0x27, 0x2019, 0x2018, 0x201b, 0x2bc, 0x2bb, 0x2032, 0xff07, 0x60, 0xb4];

function foldAsWritten(text: string): string {
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
  const bare = Array.from(text).filter((c) => !apostrophes.includes(c.codePointAt(0) ?? 0));
  const mapped = Array.from(drop(drop(bare.join("")).toLowerCase()), (c) => special[c] ?? c).join(
    "",
  );
  return Array.from(mapped.normalize("NFC"))
    .filter((c) => /\p{White_Space}/u.test(c) || !/[\p{Cc}\p{Cf}]/u.test(c))
    .join("")
    .split(/\p{White_Space}+/u)
    .filter((word) => word !== "")
    .join(" ");
}

const digraphs = ["äae", "öoe", "üue", "åaa", "øoe", "Äae", "Öoe", "Üue", "Åaa", "Øoe"];

const scripts = ["Cyrillic", "Greek", "Armenian", "Georgian", "Hiragana", "Katakana", "Hangul"];
const isOtherScript = new RegExp(scripts.map((script) => `\\p{Script=${script}}`).join("|"), "u");

function latinAsWritten(text: string): string {
  const points = Array.from(text.normalize("NFC"));
  return points
    .map((c, at) => {
      if ("οΟ".includes(c) && "υύΥΎ".includes(points[at + 1] ?? " ")) return "o";
      if ("υύΥΎ".includes(c) && "οΟ".includes(points[at - 1] ?? " ")) return "u";
      return isOtherScript.test(c) ? anyAscii(c).split("'").join("") : c;
    })
    .join("");
}

export function spellingsAsWritten(name: string): string[] {
  const digraph = Array.from(
    name.normalize("NFC"),
    (c) => digraphs.find((pair) => pair.startsWith(c))?.slice(1) ?? c,
  ).join("");
  return [...new Set([name, digraph, latinAsWritten(name)])].map(foldAsWritten);
}

export function searchAsWritten(names: readonly Named[]): (query: string) => number[] {
  // All names form a single text, because calling `includes` for each name would be too slow.
  const texts = names.map(({ spellings }) => `${spellings.join("\n")}\n`);
  const text = texts.join("");
  const ends: number[] = [];
  for (const { length } of texts) ends.push((ends.at(-1) ?? 0) + length);

  function findAll(f: string): Map<Named, number> {
    const words = f.split(" ");
    const [first = ""] = words;
    const isTierFive = words.length > 1 && words.every((word) => Array.from(word).length >= 2);
    const found = new Map<Named, number>();
    let at = 0;
    // In every tier, the name contains the query's first word.
    for (let hit = text.indexOf(first); hit >= 0; hit = text.indexOf(first, ends[at - 1])) {
      while ((ends[at] ?? 0) <= hit) at++;
      const name = names[at++];
      const tiers = name?.spellings
        .map((spelling) => tierAsWritten(spelling, f, isTierFive ? words : undefined))
        .filter((tier) => tier !== undefined);
      if (name && tiers && tiers.length > 0) found.set(name, Math.min(...tiers));
    }
    return found;
  }

  return (query) => {
    const f = foldAsWritten(query);
    if (f === "") return [];
    const found = findAll(f);
    const latin = foldAsWritten(latinAsWritten(query));
    if (latin !== "" && latin !== f) {
      for (const [name, tier] of findAll(latin)) {
        found.set(name, Math.min(tier, found.get(name) ?? tier));
      }
    }
    return [...found]
      .sort(([a, aTier], [b, bTier]) => aTier - bTier || a.sortKey - b.sortKey || a.id - b.id)
      .slice(0, 10)
      .map(([{ id }]) => id);
  };
}

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
