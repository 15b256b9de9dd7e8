/** Tables of letters and their Latin spellings, which are written as pairs: "б b в v". */

/** Returns a function that replaces the letters of a table, the longest first. */
export function replaceBy(...tables: string[]): (text: string) => string {
  const words = tables.join(" ").trim().split(/\s+/);
  const spellings = new Map<string, string>();
  for (let at = 0; at < words.length; at += 2) {
    spellings.set(words[at] ?? "", (words[at + 1] ?? "").replace(NONE, ""));
  }
  const letters = [...spellings.keys()];
  const groups = letters.filter(({ length }) => length > 1).sort((a, b) => b.length - a.length);
  const single = letters.filter(({ length }) => length === 1).join("");
  const pattern = new RegExp([...groups, `[${single}]`].join("|"), "g");
  return (text) => text.replace(pattern, (letter) => spellings.get(letter) ?? letter);
}

/** Stands for no letter in a table. */
const NONE = "-";
