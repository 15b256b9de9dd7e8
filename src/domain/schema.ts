/**
 * The atoms that the shapes of the domain are made of. A schema's `description` completes the sentence
 * "must be …", so one text serves the API's document, the JSON Schema and the errors of the dataset.
 */
import { Kind, type TProperties, Type, TypeRegistry } from "@sinclair/typebox";
import { parseTime } from "./time.ts";

const NAME_MAX_CODE_POINTS = 200;
const AVATAR_MAX_CODE_POINTS = 2048;

/** A dot and a slash as browsers and proxies read them. */
const DOT = "(?:\\.|%2[eE])";
const SLASH = "(?:[/\\\\]|%2[fF]|%5[cC])";
const PATH_END = `(?:${SLASH}|[?#]|$)`;

/**
 * The API's paths begin with these. A browser that shows such an avatar would send a request to the
 * API, and spend a search of its reader; so would the page at `/`, which searches as well.
 */
const OWN_PATHS = ["search", "users", "api", "health", "docs"];
const OWN_PATH = `(?:${SLASH}|${DOT}${SLASH})*(?:${DOT}|${OWN_PATHS.map(encodable).join("|")})?${PATH_END}`;

/** `//host` and `/\host` are read as another site by browsers, so they are not paths here. */
const AVATAR_PATH = `/(?![/\\\\]|${OWN_PATH}|(?:[^?#]*${SLASH})?${DOT}${DOT}${PATH_END})`;
const AVATAR = `^([Hh][Tt][Tt][Pp][Ss]?://[^/\\s]|${AVATAR_PATH})\\S*$`;
const AVATAR_REGEXP = new RegExp(AVATAR, "u");

export const Id = integer(`an integer from 1 to ${Number.MAX_SAFE_INTEGER}`, 1);
export const Count = integer(`an integer from 0 to ${Number.MAX_SAFE_INTEGER}`, 0);
export const Integer = integer("an integer", Number.MIN_SAFE_INTEGER);

/** A text as the API returns it; a dataset line has it with {@link text}. */
export const Text = string("a string of valid Unicode");

/** Any Unicode text of so many code points at most, without half a surrogate pair: that is not UTF-8. */
export function text(maxLength: number) {
  const description = `a string of at most ${maxLength} code points of valid Unicode`;
  return string(description, { maxLength }, (value) => isText(value, maxLength));
}

export const Name = string(
  `a string of 1 to ${NAME_MAX_CODE_POINTS} code points that is not blank`,
  { minLength: 1, maxLength: NAME_MAX_CODE_POINTS, pattern: "\\S" },
  (value) => isText(value, NAME_MAX_CODE_POINTS) && value.trim() !== "",
);

/** A time as a dataset may write it; the API returns {@link UtcTime}. */
export const Timestamp = string(
  "an RFC 3339 time with Z or an offset, such as 2024-03-09T17:05:00Z",
  {
    format: "date-time",
    pattern: "^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:[0-5]\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)$",
  },
  (value) => parseTime(value) !== undefined,
);

export const UtcTime = string("an ISO 8601 time in UTC, such as 2024-03-09T17:05:00Z", {
  format: "date-time",
});

/** An avatar as a dataset may write it; the API returns {@link Url}. */
export const Avatar = string(
  "an http or https URL or a path that starts with one / (not / itself, nothing under " +
    `${OWN_PATHS.map((path) => `/${path}`).join(", ")}, and no ..), of at most ${AVATAR_MAX_CODE_POINTS} code points`,
  {
    maxLength: AVATAR_MAX_CODE_POINTS,
    pattern: AVATAR,
  },
  isAvatar,
);

export const Url = string("an absolute URL", { format: "uri" });

/** The object that a dataset line is or has: a field that is not one of these is an error. */
export function closed<Properties extends TProperties>(properties: Properties) {
  return Type.Object(properties, { additionalProperties: false });
}

function integer(description: string, minimum: number) {
  return Type.Integer({ minimum, maximum: Number.MAX_SAFE_INTEGER, description });
}

/**
 * A string as `isValid` has it, which is checked by the name of its description. The keywords say as
 * much of that as JSON Schema can: it counts code points, where TypeBox counts UTF-16.
 */
function string(description: string, keywords: object = {}, isValid = (_: string) => true) {
  TypeRegistry.Set(description, (_, value) => typeof value === "string" && isValid(value));
  return Type.Unsafe<string>({ [Kind]: description, description, type: "string", ...keywords });
}

/** The length is looked at first: the rest takes time with it. */
function isText(value: string, maxCodePoints: number): boolean {
  if (value.length > 2 * maxCodePoints || !value.isWellFormed()) return false;
  return value.length <= maxCodePoints || [...value].length <= maxCodePoints;
}

function isAvatar(value: string): boolean {
  if (!isText(value, AVATAR_MAX_CODE_POINTS) || /[\s\p{Cc}]/u.test(value)) return false;
  return AVATAR_REGEXP.test(value) && (value.startsWith("/") || URL.canParse(value));
}

/** A pattern of a word whose letters may be percent-encoded. */
function encodable(word: string): string {
  return word.replace(/./g, (letter) => {
    const code = letter.charCodeAt(0).toString(16);
    return `(?:${letter}|%${code.replace(/[a-f]/, (digit) => `[${digit}${digit.toUpperCase()}]`)})`;
  });
}
