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
  /** The same for all members of one object, which is outermost if it is in lists alone. */
  owner: { isOutermost: boolean };
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

/** One for each open bracket: the names of an object, or the place in a list. */
interface Level {
  path: string;
  isOutermost: boolean;
  names?: Set<string>;
  index: number;
}

/** The members of all objects of a text, but for those that are nested too deeply to be of interest. */
export function* listMembers(text: string): Generator<Member> {
  const levels: Level[] = [];
  /** Members outside all brackets: a bracket in front is missing. */
  const root: Level = { path: "", isOutermost: true, names: new Set(), index: 0 };
  /** How many more brackets are open than there are levels. */
  let deeper = 0;
  let path = "";
  for (let at = 0; at < text.length; at++) {
    const level = deeper > 0 ? undefined : (levels.at(-1) ?? root);
    const character = text[at];
    if (character === "{" || character === "[") {
      if (levels.length === MAX_DEPTH) {
        deeper++;
        continue;
      }
      const isObject = character === "{";
      const isOutermost = levels.every(({ names }) => !names);
      levels.push({ path, isOutermost, index: 0, ...(isObject && { names: new Set() }) });
      if (!isObject) path += "[0]";
    } else if (character === "}" || character === "]") {
      if (deeper > 0) deeper--;
      else path = levels.pop()?.path ?? "";
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
          depth: Math.max(levels.length, 1),
          owner: level,
          isRepeated,
          valueAt: skipSpace(text, next + 1),
        };
      }
      at = end - 1;
    }
  }
}

/** A number or a word that has an end. */
const LITERAL = /[^\s,:{}[\]"]+(?=[\s,}\]])/y;

/** The value that begins there, unless it is a list or an object; if it is no JSON, its text. */
export function scalarAt(text: string, at: number): unknown {
  if (text[at] === '"') return decode(text.slice(at, endOfString(text, at)));
  LITERAL.lastIndex = at;
  const [literal] = LITERAL.exec(text) ?? [];
  return literal === undefined ? undefined : decode(literal);
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

/** The value of a literal; of a string, the characters may be escaped. */
function decode(literal: string) {
  try {
    return JSON.parse(literal);
  } catch {
    return literal;
  }
}
