/**
 * The records of a community: their schemas in API responses, and in the lines of a dataset, where
 * the field `type` of an achievement is called `kind`.
 */
import { type Static, Type } from "@sinclair/typebox";
import {
  AvatarOrNull,
  boundedText,
  Count,
  closedObject,
  Id,
  Integer,
  Name,
  Text,
  Timestamp,
  Url,
  UtcTime,
} from "./schema.ts";

export const Role = Type.Object({ id: Id, name: Name, hierarchy: Integer });
export type Role = Static<typeof Role>;

/** The sort order of roles in a profile: higher `hierarchy` first, then lower id. */
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

/**
 * An achievement that a user has unlocked. `tier` is the tier that the user has reached, and
 * `achievement.tier` is the tier in the achievement's definition.
 */
export const AchievementEntry = Type.Object({
  achievement: Achievement,
  tier: Count,
  unlocked_at: UtcTime,
});
export type AchievementEntry = Static<typeof AchievementEntry>;

export const CompanySearchResult = Type.Object({ id: Id, name: Name, member_count: Count });
export type CompanySearchResult = Static<typeof CompanySearchResult>;

/** The company in a user's profile. `role` is the user's role in the company. */
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

/** The maximum size of a response with the achievements of one user. */
export const MAX_ACHIEVEMENTS_BYTES = 128 * 1024;

export const CompanyOrNull = Type.Union([closedObject({ id: Id, role: Name }), Type.Null()], {
  description: "an object with id and role, or null",
});
export const UnlockedAchievement = closedObject({ id: Id, tier: Count, unlocked_at: Timestamp });

const details = {
  name: Name,
  avatar_url: Type.Optional(AvatarOrNull),
  created_at: Timestamp,
  company: Type.Optional(CompanyOrNull),
  roles: Type.Optional(
    Type.Array(Id, {
      maxItems: MAX_ROLES,
      description: `an array of at most ${MAX_ROLES} role ids`,
    }),
  ),
  achievements: Type.Optional(
    Type.Array(UnlockedAchievement, { description: "an array of objects" }),
  ),
};

export const PublicUserLine = closedObject({
  type: Type.Literal("user"),
  id: Id,
  public: Type.Literal(true),
  ...details,
});
export type PublicUserLine = Static<typeof PublicUserLine>;

/**
 * A private user's line. Only the id is stored. The other fields are validated and then dropped.
 */
export const PrivateUserLine = closedObject({
  type: Type.Literal("user"),
  id: Id,
  public: Type.Literal(false),
  ...Type.Partial(Type.Object(details)).properties,
});
export type PrivateUserLine = Static<typeof PrivateUserLine>;

/** Returns the avatar as an absolute URL. An avatar that is a path is appended to `baseUrl`. */
export function completeAvatar(userId: number, avatar: string | null, baseUrl: string): string {
  const url = avatar ?? `/avatars/${userId}.svg`;
  return url.startsWith("/") ? baseUrl + url : url;
}
