/**
 * The records of a community: their schemas in API responses, and in the lines of a dataset, where
 * the field `type` of an achievement is called `kind`. Each `description` completes the sentence
 * "must be …", and is used in the OpenAPI document, in the JSON Schema and in error messages.
 */
import { Kind, type Static, type TProperties, Type, TypeRegistry } from "@sinclair/typebox";
import { isPlaceholder, isText, isUncomputed } from "./text.ts";
import { parseTime, RFC3339 } from "./time.ts";

/** In code points. */
const MAX_AVATAR = 2048;

/** Browsers treat `//host` and `/\host` as URLs of another site, so neither is a valid path. */
const AVATAR = /^([Hh][Tt][Tt][Pp][Ss]?:\/\/[^/\s\p{Cc}]|\/(?![/\\]))[^\s\p{Cc}]*$/u;

function isAvatar(value: string): boolean {
  const isPath = value[0] === "/";
  return isText(value, MAX_AVATAR) && AVATAR.test(value) && (isPath || URL.canParse(value));
}

/** In code points. */
export const MAX_NAME = 200;

export const Id = integer(`an integer from 1 to ${Number.MAX_SAFE_INTEGER}`, 1);
export const Count = integer(`an integer from 0 to ${Number.MAX_SAFE_INTEGER}`, 0);
const Integer = integer("an integer", Number.MIN_SAFE_INTEGER);

const MARK = /^[0-9a-f]{32}$/;

/** The mark that an id map gets with each new key. */
export const Mark = string("the mark of an id map", { pattern: MARK.source }, (value) =>
  MARK.test(value),
);

export const Text = string("a valid Unicode string");

function boundedText(maxLength: number) {
  const description = `a valid Unicode string of at most ${maxLength} code points`;
  return string(description, { maxLength }, (value) => isText(value, maxLength));
}

/** Some names consist of a blank character that is not white space, such as U+3164 or U+2800. */
const VISIBLE = /[^\p{White_Space}\p{M}\p{Default_Ignorable_Code_Point}\u2800]/u;

export const Name = string(
  `a non-blank string of 1 to ${MAX_NAME} code points`,
  { minLength: 1, maxLength: MAX_NAME, pattern: "\\S" },
  (value) => isText(value, MAX_NAME) && VISIBLE.test(value),
);

/** Datasets have this, and responses have a {@link UtcTime}. */
const Timestamp = string(
  "an RFC 3339 time on a real date, with Z or an offset, such as 2024-03-09T17:05:00Z",
  { format: "date-time", pattern: RFC3339.source },
  (value) => parseTime(value) !== undefined,
);

export const UtcTime = string("an ISO 8601 time in UTC, such as 2024-03-09T17:05:00Z", {
  format: "date-time",
});

const Avatar = string(
  `an http(s) URL or a path of at most ${MAX_AVATAR} code points`,
  { maxLength: MAX_AVATAR, pattern: AVATAR.source },
  isAvatar,
);

const AvatarOrNull = Type.Union([Avatar, Type.Null()], {
  description: `null, or ${Avatar.description}`,
});

const Url = string("an absolute URL", { format: "uri" });

export const Role = Type.Object({ id: Id, name: Name, hierarchy: Integer });
export type Role = Static<typeof Role>;

/** The order of roles in a profile. */
export function compareRoles(a: Role, b: Role): number {
  return b.hierarchy - a.hierarchy || a.id - b.id;
}

export const Achievement = Type.Object({
  id: Id,
  name: Name,
  description: Text,
  icon: Text,
  type: Text,
  tier: Count,
  points: Count,
});
export type Achievement = Static<typeof Achievement>;

/** `tier` is the tier that the user has reached, and `achievement.tier` is the definition's. */
export const AchievementEntry = Type.Object({
  achievement: Achievement,
  tier: Count,
  unlocked_at: UtcTime,
});
export type AchievementEntry = Static<typeof AchievementEntry>;

/** The kinds of records that a search finds by their names. */
export const nameKinds = ["user", "company"] as const;
export type NameKind = (typeof nameKinds)[number];

/** The most users or companies that a search returns. */
export const MAX_RESULTS = 10;

export const CompanySearchResult = Type.Object({ id: Id, name: Name, member_count: Count });
export type CompanySearchResult = Static<typeof CompanySearchResult>;

export const CompanyReference = Type.Object({ id: Id, name: Name, role: Name });
export type CompanyReference = Static<typeof CompanyReference>;

export const User = Type.Object({
  id: Id,
  name: Name,
  avatar_url: Url,
  company: Type.Union([CompanyReference, Type.Null()]),
  roles: Type.Array(Role),
  created_at: UtcTime,
});
export type User = Static<typeof User>;

export const UserSearchResult = Type.Object({
  id: Id,
  name: Name,
  avatar_url: Url,
  company: Type.Union([Name, Type.Null()]),
});
export type UserSearchResult = Static<typeof UserSearchResult>;

export const RoleLine = closedObject({ type: Type.Literal("role"), ...Role.properties });
export type RoleLine = Static<typeof RoleLine>;

export const AchievementLine = closedObject({
  type: Type.Literal("achievement"),
  id: Id,
  name: Name,
  description: boundedText(500),
  icon: boundedText(200),
  kind: boundedText(100),
  tier: Count,
  points: Count,
});
export type AchievementLine = Static<typeof AchievementLine>;

export const CompanyLine = closedObject({
  type: Type.Literal("company"),
  ...CompanySearchResult.properties,
});
export type CompanyLine = Static<typeof CompanyLine>;

export const MAX_ROLES = 100;
export const MAX_ACHIEVEMENTS_BYTES = 128 * 1024;

const ROLES = `an array of at most ${MAX_ROLES} role ids`;

const CompanyOrNull = Type.Union([closedObject({ id: Id, role: Name }), Type.Null()], {
  description: "an object with id and role, or null",
});
export const UnlockedAchievement = closedObject({ id: Id, tier: Count, unlocked_at: Timestamp });

const details = {
  name: Name,
  avatar_url: Type.Optional(AvatarOrNull),
  created_at: Timestamp,
  company: Type.Optional(CompanyOrNull),
  roles: Type.Optional(Type.Array(Id, { maxItems: MAX_ROLES, description: ROLES })),
  achievements: Type.Optional(
    Type.Array(UnlockedAchievement, { description: "an array of objects" }),
  ),
};
const userOf = { type: Type.Literal("user"), id: Id };

export const PublicUserLine = closedObject({ ...userOf, public: Type.Literal(true), ...details });
export type PublicUserLine = Static<typeof PublicUserLine>;

/** Only the id of a private user is stored. The other fields are validated and then dropped. */
export const PrivateUserLine = closedObject({
  ...userOf,
  public: Type.Literal(false),
  ...Type.Partial(Type.Object(details)).properties,
});
export type PrivateUserLine = Static<typeof PrivateUserLine>;

/** Unknown fields are errors. */
export function closedObject<Properties extends TProperties>(properties: Properties) {
  return Type.Object(properties, { additionalProperties: false });
}

function integer(description: string, minimum: number) {
  return Type.Integer({ minimum, maximum: Number.MAX_SAFE_INTEGER, description });
}

/**
 * A string with a check, which TypeBox finds by the description, so no two checks may have the same. TypeBox ignores
 * `keywords`, which describe the check in JSON Schema as far as possible.
 */
function string(description: string, keywords: object = {}, isValid = (_: string) => true) {
  TypeRegistry.Set(description, (_, value) => typeof value === "string" && isValid(value));
  return Type.Unsafe<string>({ [Kind]: description, description, type: "string", ...keywords });
}

/** A person as a snapshot has it: the avatar may be only a path, and is null without one. */
export type Stored<Person extends { avatar_url: string }> = Omit<Person, "avatar_url"> & {
  avatar_url: string | null;
};

/** Returns a stored avatar as an absolute URL. */
export function completeAvatar(userId: number, avatar: string | null, baseUrl: string): string {
  const url = avatar ?? `/avatars/${userId}.svg`;
  return url.startsWith("/") ? baseUrl + url : url;
}

/** A path, a file name, a query or a hash. For no avatar, people write none, no, 0 or a dash. */
const NAMES_FILE = /[./=]|[\da-f]{8}/i;

/** Whether a text belongs to a base URL, so that it is no URL itself and does not stand for none. */
export function isRelativeAvatar(avatar: string): boolean {
  const isUrl = /^[a-z][a-z\d+.-]*:/i.test(avatar);
  return !isUrl && NAMES_FILE.test(avatar) && !isPlaceholder(avatar) && !isUncomputed(avatar);
}

/** Resolves a relative avatar as a browser would. Returns anything else unchanged. */
export function resolveAvatar(avatar: string, base: string): string {
  return isRelativeAvatar(avatar) ? (URL.parse(avatar, base)?.href ?? avatar) : avatar;
}
