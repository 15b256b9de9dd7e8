/**
 * The members of a JSON text as they are written, which `JSON.parse` does not show: of two with one
 * name it takes the last and says nothing. Reads on leniently where the text is no JSON, never throws.
 */

export interface Member {
  name: string;
  /** Where the member is, such as `achievements[0].id`. */
  path: string;
  /** 1 for a member of the outermost object. */
  depth: number;
  /** Whether its object has an earlier member of that name. */
  isRepeated: boolean;
  /** Where its value begins in the text. */
  valueAt: number;
}

/** Nothing that is valid is nested half as deeply. */
const MAX_DEPTH = 8;

const COLON = 58;
const BACKSLASH = 92;

/** How many members there are in all objects of a text that is valid JSON. */
export function countMembers(text: string): number {
  let count = 0;
  for (let at = text.indexOf('"'); at >= 0; ) {
    const end = endOfString(text, at);
    const next = skipSpace(text, end);
    if (text.charCodeAt(next) === COLON) count++;
    at = text.indexOf('"', next);
  }
  return count;
}

/** The members of all objects of a text, down to where it is nested too deeply to be of interest. */
export function* listMembers(text: string): Generator<Member> {
  // One level for each open bracket: the names of an object, or the place in a list.
  const levels: { path: string; names?: Set<string>; index: number }[] = [];
  let path = "";
  for (let at = 0; at < text.length; at++) {
    const level = levels.at(-1);
    const character = text[at];
    if (character === "{" || character === "[") {
      if (levels.length === MAX_DEPTH) return;
      const isObject = character === "{";
      levels.push({ path, index: 0, ...(isObject && { names: new Set() }) });
      if (!isObject) path += "[0]";
    } else if (character === "}" || character === "]") {
      path = levels.pop()?.path ?? "";
    } else if (character === "," && level) {
      path = level.names ? level.path : `${level.path}[${++level.index}]`;
    } else if (character === '"') {
      const end = endOfString(text, at);
      const next = skipSpace(text, end);
      if (level?.names && text.charCodeAt(next) === COLON) {
        const name = decode(text.slice(at, end));
        path = level.path === "" ? name : `${level.path}.${name}`;
        const isRepeated = level.names.has(name);
        level.names.add(name);
        yield {
          name,
          path,
          depth: levels.length,
          isRepeated,
          valueAt: skipSpace(text, next + 1),
        };
      }
      at = end - 1;
    }
  }
}

/** Where the string that begins at `at` has ended; the end of the text if it never does. */
function endOfString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end;
    while (text.charCodeAt(before - 1) === BACKSLASH) before--;
    if ((end - before) % 2 === 0) return end + 1;
  }
  return text.length;
}

function skipSpace(text: string, at: number): number {
  while (text.charCodeAt(at) <= 32) at++;
  return at;
}

/** The text of a string literal, whose characters may be escaped. */
function decode(literal: string): string {
  try {
    return JSON.parse(literal);
  } catch {
    return literal;
  }
}
