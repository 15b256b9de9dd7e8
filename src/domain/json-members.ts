/**
 * Lists the members of a JSON text as they are written. `JSON.parse` hides duplicate names: it
 * keeps the last one silently. Reads on where the text is not valid JSON, and never throws.
 */

export interface Member {
  name: string;
  /** Such as `achievements[0].id`. */
  path: string;
  /** 1 for a member of the outermost object. */
  depth: number;
  /** Identifies the member's object, which is outermost unless it is inside another object. */
  owner: { isOutermost: boolean };
  /** Whether its object has an earlier member with this name. */
  isDuplicate: boolean;
  /** The index of its value in the text. */
  valueAt: number;
}

/** Valid lines are nested less than half as deeply. */
const MAX_DEPTH = 8;

const COLON = 58;
const BACKSLASH = 92;

/** Counts the members of all objects in valid JSON. */
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

/** An open bracket, with the names in its object or the index in its array. */
interface Level {
  path: string;
  isOutermost: boolean;
  names?: Set<string>;
  index: number;
}

/** The members of all objects in a text, except for those nested more than MAX_DEPTH deep. */
export function* listMembers(text: string): Generator<Member> {
  const levels: Level[] = [];
  /** For members outside all brackets, where an opening bracket is missing. */
  const root: Level = { path: "", isOutermost: true, names: new Set(), index: 0 };
  /** How many brackets are open beyond MAX_DEPTH. */
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
        const isDuplicate = level.names.has(name);
        level.names.add(name);
        yield {
          name,
          path,
          depth: Math.max(levels.length, 1),
          owner: level,
          isDuplicate,
          valueAt: skipSpace(text, next + 1),
        };
      }
      at = end - 1;
    }
  }
}

/** A number or word that ends before the text does. */
const LITERAL = /[^\s,:{}[\]"]+(?=[\s,}\]])/y;

/** The scalar at `at`, or its text if it is not JSON; undefined for an array or an object. */
export function scalarAt(text: string, at: number): unknown {
  if (text[at] === '"') return decode(text.slice(at, endOfString(text, at)));
  LITERAL.lastIndex = at;
  const [literal] = LITERAL.exec(text) ?? [];
  return literal === undefined ? undefined : decode(literal);
}

/** The index after the string that starts at `at`; the end of the text if it is not closed. */
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

function decode(literal: string) {
  try {
    return JSON.parse(literal);
  } catch {
    return literal;
  }
}
