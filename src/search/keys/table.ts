/** Tables of letters and their Latin spellings, which are written as pairs: "б b в v". */

import { lazy } from "../../domain/once.ts";

/** Returns a function that replaces the letters of tables, the longest first. */
export function replaceBy(...tables: string[]): (text: string) => string {
  const read = lazy(() => readTables(tables));
  return (text) => {
    const { spellings, pattern } = read();
    return text.replace(pattern, (letter) => spellings.get(letter) ?? letter);
  };
}

function readTables(tables: string[]) {
  const words = tables.join(" ").trim().split(/\s+/);
  const spellings = new Map<string, string>();
  for (let at = 0; at < words.length; at += 2) {
    spellings.set(words[at] ?? "", (words[at + 1] ?? "").replace(NONE, ""));
  }
  const letters = [...spellings.keys()];
  const groups = letters.filter(({ length }) => length > 1).sort((a, b) => b.length - a.length);
  const single = letters.filter(({ length }) => length === 1).join("");
  return { spellings, pattern: new RegExp([...groups, `[${single}]`].join("|"), "g") };
}

/** Stands for no letter in a table. */
const NONE = "-";
