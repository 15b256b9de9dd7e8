/**
 * Finds the users that an invalid line may make private. Errs on the side of hiding: leaving out a
 * line must never leave a profile public that the line should have made private.
 */
import { listMembers, scalarAt } from "./json-members.ts";

/** The members of an object that identify a user and show whether the user is private. */
interface Mention {
  isOutermost: boolean;
  types: unknown[];
  /** Undefined for a value that is not an id. */
  ids: (number | undefined)[];
  publics: unknown[];
}

const otherTypes: unknown[] = ["role", "achievement", "company", "end"];

/** Finds members in valid JSON. */
const MEMBERS = { public: /"public"\s*:/gi, id: /"id"\s*:/gi };
/** Finds members in text that is not valid JSON. */
const BROKEN_MEMBERS = {
  public: /\bpublic\b["'\\\s]*[:=]/gi,
  id: /\bid\b["'\\\s]*[:=]/gi,
};
const USER_TYPE = /["']user["']/i;

/** How many times JSON may be wrapped in a string. */
const MAX_UNWRAPPED = 4;

/**
 * The users that a line mentions without clearly saying that they are public, so other lines about
 * them must be hidden. Undefined if the line seems to mention a user whose id cannot be found. With
 * `isBeginning`, `line` is only the beginning of a line.
 */
export function findHiddenUsers(line: string, isBeginning = false): number[] | undefined {
  const { text, isJson } = unwrap(line);
  const mentions = listMentions(text);
  // listMembers misses members after a missing quote, and members that are nested too deeply.
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

/** One mention for each object with a `type`, `id` or `public` member. */
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

/** An id may be quoted and may have leading zeros. An integer out of range is accepted here. */
function idOf(value: unknown): number | undefined {
  const id = typeof value === "string" && /\d/.test(value) ? Number(value) : value;
  return typeof id === "number" && Number.isInteger(id) ? id : undefined;
}

/** The text of a line, unwrapped if it is a JSON string, and whether the text is JSON. */
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

/** Replaces the JSON escapes `\uXXXX` and `\"` with the characters that they stand for. */
function unescaped(text: string): string {
  return text
    .replace(/\\u([\da-f]{4})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll('\\"', '"');
}
