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

const apostrophes = [
  0x27, 0x60, 0xb4, 0x2b9, 0x2bb, 0x2bc, 0x5f3, 0x5f4, 0x2018, 0x2019, 0x201b, 0x2032, 0xff07,
];

/** First and last code points. */
const dropped = [
  [0x300, 0x36f],
  [0x1ab0, 0x1aff],
  [0x1dc0, 0x1dff],
  [0x20d0, 0x20ff],
  [0xfe20, 0xfe2f],
  [0x180b, 0x180d],
  [0x180f, 0x180f],
  [0xfe00, 0xfe0f],
  [0xe0100, 0xe01ef],
  [0x64b, 0x65f],
  [0x670, 0x670],
  [0x640, 0x640],
  [0x591, 0x5bd],
  [0x5bf, 0x5bf],
  [0x5c1, 0x5c2],
  [0x5c4, 0x5c5],
  [0x5c7, 0x5c7],
] as const;

/** Pairs of a code point and the one that replaces it. */
const replaced = new Map([
  [0x3c2, 0x3c3],
  [0x6cc, 0x64a],
  [0x649, 0x64a],
  [0x6a9, 0x643],
  [0x629, 0x647],
  [0x6c1, 0x647],
  [0x6be, 0x647],
  [0x671, 0x627],
]);

/** Each is followed by the nine other digits of its script. */
const zeros: number[] = [];
for (let code = 0; code < 0x110000; code++) {
  const isDigit = /\p{Nd}/u.test(String.fromCodePoint(code));
  if (isDigit && code > (zeros.at(-1) ?? -10) + 9) zeros.push(code);
}

function foldAsWritten(text: string): string {
  const drop = (s: string) =>
    Array.from(s.normalize("NFKD")).filter((c) => {
      const code = c.codePointAt(0) ?? 0;
      return !dropped.some(([first, last]) => first <= code && code <= last);
    });
  const bare = Array.from(text).filter((c) => !apostrophes.includes(c.codePointAt(0) ?? 0));
  const lower = drop(drop(bare.join("")).join("").toLowerCase());
  const mapped = lower.map((c) => {
    const code = c.codePointAt(0) ?? 0;
    const zero = zeros.findLast((zero) => zero <= code) ?? 0;
    if (code - zero < 10) return `${code - zero}`;
    if (/[\p{Pd}\u2212]/u.test(c)) return "-";
    const other = String.fromCodePoint(replaced.get(code) ?? code);
    return code > 127 && /\p{Script=Latin}/u.test(other) ? anyAscii(other).toLowerCase() : other;
  });
  return Array.from(mapped.join("").normalize("NFC"))
    .filter((c) => /\p{White_Space}/u.test(c) || !/[\p{Cc}\p{Cf}]/u.test(c))
    .join("")
    .split(/\p{White_Space}+/u)
    .filter((word) => word !== "")
    .join(" ");
}

const digraphs = ["äae", "öoe", "üue", "åaa", "øoe", "đdj", "əa"].flatMap((pair) => [
  pair,
  `${pair.slice(0, 1).toUpperCase()}${pair.slice(1)}`,
]);

const scripts = ["Cyrillic", "Greek", "Armenian", "Georgian", "Hiragana", "Katakana", "Hangul"];
const isOtherScript = new RegExp(scripts.map((script) => `\\p{Script=${script}}`).join("|"), "u");

function latinAsWritten(text: string): string {
  const points = Array.from(text.normalize("NFKC"));
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
