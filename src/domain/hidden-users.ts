/**
 * Finds the users that a line with errors may hide, as far as it can be read. Errs on the side of
 * hiding: leaving out a line must never leave a profile public that the line was to make private.
 */
import { listMembers, scalarAt } from "./json-members.ts";

/** The members of one object of a line that tell which user it is about, and whether it hides them. */
interface Statement {
  isOutermost: boolean;
  types: unknown[];
  /** Undefined for what is no id. */
  ids: (number | undefined)[];
  publics: unknown[];
}

const otherTypes: unknown[] = ["role", "achievement", "company", "end"];

/** The members in JSON, and in what is none. */
const MEMBERS = { public: /"public"\s*:/gi, id: /"id"\s*:/gi };
const BROKEN_MEMBERS = {
  public: /\bpublic\b["'\\\s]*[:=]/gi,
  id: /\bid\b["'\\\s]*[:=]/gi,
};
const USER_TYPE = /["']user["']/i;

/** JSON in a string in a string: nothing sends it more deeply. */
const MAX_UNWRAPPED = 4;

/**
 * The users that a line may be about without saying clearly that they are public: other lines about
 * them are better hidden. Undefined when the line seems to be about a user, but not which one. With
 * `isBeginning`, `line` is the beginning of a line, and the rest may say anything.
 */
export function findHiddenUsers(line: string, isBeginning = false): number[] | undefined {
  const { text, isJson } = unwrap(line);
  const statements = listStatements(text);
  // Behind a missing quote, or nested too deeply, there are members that listMembers does not see.
  const plain = unescaped(text);
  const isUnread = (name: "public" | "id") => {
    const written = plain.match((isJson ? MEMBERS : BROKEN_MEMBERS)[name])?.length ?? 0;
    return written > statements.reduce((sum, statement) => sum + statement[`${name}s`].length, 0);
  };
  const isUnclear = isUnread("public");
  if (isUnclear && (isUnread("id") || statements.length === 0)) return undefined;
  if (statements.length === 0) return isBeginning || USER_TYPE.test(plain) ? undefined : [];
  const found: number[] = [];
  for (const { isOutermost, types, ids, publics } of statements) {
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

/** One statement for each object that has a member of interest. */
function listStatements(text: string): Statement[] {
  const statements = new Map<object, Statement>();
  for (const { name, owner, valueAt } of listMembers(text)) {
    const isPublic = name.toLowerCase() === "public";
    if (!isPublic && name !== "type" && name !== "id") continue;
    const { isOutermost } = owner;
    const statement = statements.get(owner) ?? { isOutermost, types: [], ids: [], publics: [] };
    statements.set(owner, statement);
    const value = scalarAt(text, valueAt);
    if (name === "type") statement.types.push(value);
    if (name === "id") statement.ids.push(idOf(value));
    if (isPublic) statement.publics.push(name === "public" ? value : undefined);
  }
  return [...statements.values()];
}

/** An id may be in quotes, and have zeros in front. An integer that is too large or small is nobody's. */
function idOf(value: unknown): number | undefined {
  const id = typeof value === "string" && /\d/.test(value) ? Number(value) : value;
  return typeof id === "number" && Number.isInteger(id) ? id : undefined;
}

/** The text of a line, or the one in a line that is a JSON string; and whether it is JSON. */
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

/** A text in which characters that are escaped, as JSON has it, are themselves. */
function unescaped(text: string): string {
  return text
    .replace(/\\u([\da-f]{4})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll('\\"', '"');
}
