/**
 * Basic types for the API and for dataset lines. Each `description` completes the sentence "must be
 * …", and is used in the OpenAPI document, in the JSON Schema and in error messages.
 */
import { Kind, type TProperties, Type, TypeRegistry } from "@sinclair/typebox";
import { parseTime } from "./time.ts";

const NAME_MAX_CODE_POINTS = 200;
const AVATAR_MAX_CODE_POINTS = 2048;

/** Browsers treat `//host` and `/\host` as URLs of another site, so neither is a valid path. */
const AVATAR = "^([Hh][Tt][Tt][Pp][Ss]?://[^/\\s]|/(?![/\\\\]))\\S*$";
const AVATAR_REGEXP = new RegExp(AVATAR, "u");

export const Id = integer(`an integer from 1 to ${Number.MAX_SAFE_INTEGER}`, 1);
export const Count = integer(`an integer from 0 to ${Number.MAX_SAFE_INTEGER}`, 0);
export const Integer = integer("an integer", Number.MIN_SAFE_INTEGER);

/** Text in an API response. Dataset lines use {@link boundedText}. */
export const Text = string("a valid Unicode string");

/** Text of limited length. Unpaired surrogates are rejected, because UTF-8 cannot encode them. */
export function boundedText(maxLength: number) {
  const description = `a valid Unicode string of at most ${maxLength} code points`;
  return string(description, { maxLength }, (value) => isText(value, maxLength));
}

export const Name = string(
  `a non-blank string of 1 to ${NAME_MAX_CODE_POINTS} code points`,
  { minLength: 1, maxLength: NAME_MAX_CODE_POINTS, pattern: "\\S" },
  (value) => isText(value, NAME_MAX_CODE_POINTS) && value.trim() !== "",
);

/** A time in a dataset. API responses use {@link UtcTime}. */
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

const Avatar = string(
  `an http(s) URL or a path of at most ${AVATAR_MAX_CODE_POINTS} code points`,
  { maxLength: AVATAR_MAX_CODE_POINTS, pattern: AVATAR },
  isAvatar,
);

/** An avatar in a dataset. API responses use {@link Url}. */
export const AvatarOrNull = Type.Union([Avatar, Type.Null()], {
  description: `null, or ${Avatar.description}`,
});

export const Url = string("an absolute URL", { format: "uri" });

/** An object in a dataset. Unknown fields are errors. */
export function closedObject<Properties extends TProperties>(properties: Properties) {
  return Type.Object(properties, { additionalProperties: false });
}

function integer(description: string, minimum: number) {
  return Type.Integer({ minimum, maximum: Number.MAX_SAFE_INTEGER, description });
}

/**
 * Defines a string type that accepts the strings for which `isValid` returns true. The description
 * also serves as the kind under which TypeBox finds this check. TypeBox ignores `keywords`, which
 * describe the check in JSON Schema as far as possible.
 */
function string(description: string, keywords: object = {}, isValid = (_: string) => true) {
  TypeRegistry.Set(description, (_, value) => typeof value === "string" && isValid(value));
  return Type.Unsafe<string>({ [Kind]: description, description, type: "string", ...keywords });
}

/** Checks the length first, because the other checks take time proportional to the length. */
function isText(value: string, maxCodePoints: number): boolean {
  if (value.length > 2 * maxCodePoints || !value.isWellFormed()) return false;
  return value.length <= maxCodePoints || [...value].length <= maxCodePoints;
}

function isAvatar(value: string): boolean {
  if (!isText(value, AVATAR_MAX_CODE_POINTS) || /[\s\p{Cc}]/u.test(value)) return false;
  return AVATAR_REGEXP.test(value) && (value.startsWith("/") || URL.canParse(value));
}
