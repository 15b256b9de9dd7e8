/**
 * Lists all members in a JSON text, including duplicates, which `JSON.parse` would silently drop.
 * Continues past invalid JSON, and never throws.
 */

export interface Member {
  name: string;
  /** For example, `achievements[0].id`. */
  path: string;
  /** The number of objects and arrays around the member, which is at least 1. */
  depth: number;
  /**
   * Represents the object that contains this member. Members of the same object share one `owner`.
   * `isOutermost` is false if the object is inside another object.
   */
  owner: { isOutermost: boolean };
  /** Whether an earlier member of the same object has the same name. */
  isDuplicate: boolean;
  /** The index in the text where the member's value starts. */
  valueAt: number;
}

/** Valid lines never reach half this depth. */
const MAX_DEPTH = 8;

const COLON = 58;
const BACKSLASH = 92;

/** Counts the members of all objects in a valid JSON text. */
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

/**
 * An object or array that is not closed yet. Only objects have `names`, and only arrays use
 * `index`.
 */
interface Level {
  path: string;
  isOutermost: boolean;
  names?: Set<string>;
  index: number;
}

/** Yields the members of all objects in a text, except members nested deeper than MAX_DEPTH. */
export function* listMembers(text: string): Generator<Member> {
  const levels: Level[] = [];
  /** Owns the members that are outside all brackets because an opening bracket is missing. */
  const root: Level = { path: "", isOutermost: true, names: new Set(), index: 0 };
  /** The number of open brackets beyond MAX_DEPTH. */
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

/**
 * A number or a word such as `true`. Does not match at the end of the text, which may be cut off.
 */
const LITERAL = /[^\s,:{}[\]"]+(?=[\s,}\]])/y;

/**
 * Returns the scalar at index `at`, or its raw text if the scalar is not valid JSON. Returns
 * undefined for an array or an object.
 */
export function scalarAt(text: string, at: number): unknown {
  if (text[at] === '"') return decode(text.slice(at, endOfString(text, at)));
  LITERAL.lastIndex = at;
  const [literal] = LITERAL.exec(text) ?? [];
  return literal === undefined ? undefined : decode(literal);
}

/**
 * Returns the index after the string that starts at `at`. A string that is not closed extends to
 * the end of the text.
 */
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
