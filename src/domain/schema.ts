/**
 * The atoms that the shapes of the domain are made of. A schema's `description` completes the
 * sentence "must be …", so one text serves the API's document and the errors of the dataset.
 */
import { FormatRegistry, Type } from "@sinclair/typebox";
import { parseTime } from "./time.ts";

const NAME_MAX_CODE_POINTS = 200;
const AVATAR_MAX_CODE_POINTS = 2048;

FormatRegistry.Set("name", isName);
FormatRegistry.Set("timestamp", (value) => parseTime(value) !== undefined);
FormatRegistry.Set("avatar", isAvatar);

export const Id = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: `an integer from 1 to ${Number.MAX_SAFE_INTEGER}`,
});

export const Count = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: `an integer from 0 to ${Number.MAX_SAFE_INTEGER}`,
});

export const Integer = Type.Integer({
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
  description: "an integer",
});

/** A text as the API returns it; a dataset line has it with {@link text}. */
export const Text = Type.String({ description: "a string of valid Unicode" });

/** Any Unicode text of so many code points at most, without half a surrogate pair: that is not UTF-8. */
export function text(maxCodePoints: number) {
  const format = `text-${maxCodePoints}`;
  FormatRegistry.Set(format, (value) => isText(value, maxCodePoints));
  const description = `a string of at most ${maxCodePoints} code points of valid Unicode`;
  return Type.String({ format, description });
}

export const Name = Type.String({
  format: "name",
  description: `a string of 1 to ${NAME_MAX_CODE_POINTS} code points that is not blank`,
});

/** A time as a dataset may write it; the API returns {@link UtcTime}. */
export const Timestamp = Type.String({
  format: "timestamp",
  description: "an RFC 3339 time with Z or an offset, such as 2024-03-09T17:05:00Z",
});

export const UtcTime = Type.String({
  format: "date-time",
  description: "an ISO 8601 time in UTC, such as 2024-03-09T17:05:00Z",
});

/** An avatar as a dataset may write it; the API returns {@link Url}. */
export const Avatar = Type.String({
  format: "avatar",
  description: `an http or https URL or a path that starts with one /, of at most ${AVATAR_MAX_CODE_POINTS} code points`,
});

export const Url = Type.String({ format: "uri", description: "an absolute URL" });

/** The length is looked at first: the rest takes time with it. */
function isText(value: string, maxCodePoints: number): boolean {
  if (value.length > 2 * maxCodePoints || !value.isWellFormed()) return false;
  return value.length <= maxCodePoints || [...value].length <= maxCodePoints;
}

function isName(value: string): boolean {
  return isText(value, NAME_MAX_CODE_POINTS) && value.trim() !== "";
}

/** `//host` and `/\host` are read as another site by browsers, so they are not paths here. */
function isAvatar(value: string): boolean {
  if (!isText(value, AVATAR_MAX_CODE_POINTS) || /[\s\p{Cc}]/u.test(value)) return false;
  if (value.startsWith("/")) return !/^\/[/\\]/.test(value);
  return /^https?:\/\/[^/]/i.test(value) && URL.canParse(value);
}
