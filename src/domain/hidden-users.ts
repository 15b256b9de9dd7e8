/**
 * Finds the users that an invalid line might make private. Errs on the side of hiding: if a line
 * that should make a profile private is skipped, the profile must not stay public.
 */
import { listMembers, scalarAt } from "./json-members.ts";

/**
 * The members of an object that might be a user. A member can appear more than once, so each array
 * lists all values of one member.
 */
interface Mention {
  isOutermost: boolean;
  types: unknown[];
  /** Contains undefined for each value that cannot be an id. */
  ids: (number | undefined)[];
  publics: unknown[];
}

const otherTypes: unknown[] = ["role", "achievement", "company", "end"];

/** Patterns that match the names of members in valid JSON. */
const MEMBERS = { public: /"public"\s*:/gi, id: /"id"\s*:/gi };
/** Patterns that match the names of members in text that is not valid JSON. */
const BROKEN_MEMBERS = {
  public: /\bpublic\b["'\\\s]*[:=]/gi,
  id: /\bid\b["'\\\s]*[:=]/gi,
};
const USER_TYPE = /["']user["']/i;

/** The maximum number of nested JSON strings to unwrap, where each string contains the next. */
const MAX_UNWRAPPED = 4;

/**
 * Returns the ids of the users that a line mentions without clearly saying that they are public.
 * These users must be hidden even if other lines make them public. Returns undefined if the line
 * seems to mention a user but has no readable id for that user. If `isBeginning` is set, `line` is
 * only the start of a line that was too long.
 */
export function findHiddenUsers(line: string, isBeginning = false): number[] | undefined {
  const { text, isJson } = unwrap(line);
  const mentions = listMentions(text);
  // listMembers misses members that follow a missing quote or are nested too deeply.
  const plain = unescaped(text);
  const isUnread = (name: "public" | "id") => {
    const written = plain.match((isJson ? MEMBERS : BROKEN_MEMBERS)[name])?.length ?? 0;
    return written > mentions.reduce((sum, mention) => sum + mention[`${name}s`].length, 0);
  };
  const isUnclear = isUnread("public");
  if (isUnclear && (isUnread("id") || mentions.length === 0)) return undefined;
  if (mentions.length === 0) return isBeginning || USER_TYPE.test(plain) ? undefined : [];
  const found: number[] = [];
  for (const { isOutermost, types, ids, publics } of mentions) {
    const isOther = types.length > 0 && types.every((type) => otherTypes.includes(type));
    const mayBeUser = isOutermost ? !isOther || isUnclear : types.length > 0 && !isOther;
    const isPrivate = publics.some((value) => value !== true);
    const isPublic = publics.length > 0 && !isPrivate && !isBeginning && !isUnclear;
    if (isPublic || !(mayBeUser || isPrivate)) continue;
    const isAboutUser = publics.length > 0 || types.some((type) => /user/i.test(String(type)));
    if (ids.length === 0 && (isAboutUser || isBeginning || isUnclear)) return undefined;
    for (const id of ids) {
      if (id === undefined) return undefined;
      if (Number.isSafeInteger(id)) found.push(id);
    }
  }
  return found;
}

/** Returns one mention for each object that has a `type`, `id` or `public` member. */
function listMentions(text: string): Mention[] {
  const mentions = new Map<object, Mention>();
  for (const { name, owner, valueAt } of listMembers(text)) {
    const isPublic = name.toLowerCase() === "public";
    if (!isPublic && name !== "type" && name !== "id") continue;
    const { isOutermost } = owner;
    const mention = mentions.get(owner) ?? { isOutermost, types: [], ids: [], publics: [] };
    mentions.set(owner, mention);
    const value = scalarAt(text, valueAt);
    if (name === "type") mention.types.push(value);
    if (name === "id") mention.ids.push(idOf(value));
    if (isPublic) mention.publics.push(name === "public" ? value : undefined);
  }
  return [...mentions.values()];
}

/** Reads an id leniently: accepts quotes, leading zeros, and integers that are out of range. */
function idOf(value: unknown): number | undefined {
  const id = typeof value === "string" && /\d/.test(value) ? Number(value) : value;
  return typeof id === "number" && Number.isInteger(id) ? id : undefined;
}

/**
 * If `line` is a JSON string, unwraps the string. Returns the resulting text, and whether the text
 * is valid JSON.
 */
function unwrap(line: string): { text: string; isJson: boolean } {
  let text = line;
  for (let level = 0; level < MAX_UNWRAPPED; level++) {
    try {
      const inner: unknown = JSON.parse(text);
      if (typeof inner !== "string") return { text, isJson: true };
      text = inner;
    } catch {
      return { text, isJson: false };
    }
  }
  return { text, isJson: false };
}

/** Replaces the JSON escapes `\uXXXX` and `\"` with the characters that they represent. */
function unescaped(text: string): string {
  return text
    .replace(/\\u([\da-f]{4})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll('\\"', '"');
}
