/**
 * Schemas for users: a public profile, a search result, and the dataset lines for public and
 * private users.
 */
import { type Static, Type } from "@sinclair/typebox";
import { CompanyReference } from "./company.ts";
import { Role } from "./role.ts";
import { AvatarOrNull, Count, closedObject, Id, Name, Timestamp, Url, UtcTime } from "./schema.ts";

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

/**
 * A response with this many roles or achievements, all with texts of maximum length, takes 5 ms.
 */
const MAX_ROLES = 1000;
export const MAX_ACHIEVEMENTS = 1000;

const details = {
  name: Name,
  avatar_url: Type.Optional(AvatarOrNull),
  created_at: Timestamp,
  company: Type.Optional(
    Type.Union([closedObject({ id: Id, role: Name }), Type.Null()], {
      description: "an object with id and role, or null",
    }),
  ),
  roles: Type.Optional(
    Type.Array(Id, {
      maxItems: MAX_ROLES,
      description: `an array of at most ${MAX_ROLES} role ids`,
    }),
  ),
  achievements: Type.Optional(
    Type.Array(closedObject({ id: Id, tier: Count, unlocked_at: Timestamp }), {
      maxItems: MAX_ACHIEVEMENTS,
      description: `an array of at most ${MAX_ACHIEVEMENTS} objects`,
    }),
  ),
};

/** The fields that a public user's line may omit. */
export const optionalFields = ["avatar_url", "company", "roles", "achievements"] as const;

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

/** The path of the avatar that is generated for a user without one in the dataset. */
function drawnAvatarPath(userId: number): string {
  return `/avatars/${userId}.svg`;
}

/** Returns the avatar as an absolute URL. An avatar that is a path is appended to `baseUrl`. */
export function completeAvatar(userId: number, avatar: string | null, baseUrl: string): string {
  const url = avatar ?? drawnAvatarPath(userId);
  return url.startsWith("/") ? baseUrl + url : url;
}
