/** Users: the public profile, the search result, and the dataset line of either privacy. */
import { type Static, Type } from "@sinclair/typebox";
import { CompanyReference } from "./company.ts";
import { Role } from "./role.ts";
import { Avatar, Count, closed, Id, Name, Timestamp, Url, UtcTime } from "./schema.ts";

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

/** With so many of each, in the longest texts, a response takes 5 ms before it is compressed. */
const MAX_ROLES = 1000;
export const MAX_ACHIEVEMENTS = 1000;

const details = {
  name: Name,
  avatar_url: Type.Optional(
    Type.Union([Avatar, Type.Null()], { description: `${Avatar.description}, or null` }),
  ),
  created_at: Timestamp,
  company: Type.Optional(
    Type.Union([closed({ id: Id, role: Name }), Type.Null()], {
      description: "null or an object with id and role",
    }),
  ),
  roles: Type.Optional(
    Type.Array(Id, {
      maxItems: MAX_ROLES,
      description: `a list of at most ${MAX_ROLES} role ids`,
    }),
  ),
  achievements: Type.Optional(
    Type.Array(closed({ id: Id, tier: Count, unlocked_at: Timestamp }), {
      maxItems: MAX_ACHIEVEMENTS,
      description: `a list of at most ${MAX_ACHIEVEMENTS} objects`,
    }),
  ),
};

/** The fields that a public user may do without. */
export const optionalFields = ["avatar_url", "company", "roles", "achievements"] as const;

export const PublicUserLine = closed({
  type: Type.Literal("user"),
  id: Id,
  public: Type.Literal(true),
  ...details,
});
export type PublicUserLine = Static<typeof PublicUserLine>;

/** What such a line says beyond the id must have the right shape, and is then dropped. */
export const PrivateUserLine = closed({
  type: Type.Literal("user"),
  id: Id,
  public: Type.Literal(false),
  ...Type.Partial(Type.Object(details)).properties,
});
export type PrivateUserLine = Static<typeof PrivateUserLine>;

/** The path of the drawing that stands in for the avatar of a user who has none. */
function drawnAvatarPath(userId: number): string {
  return `/avatars/${userId}.svg`;
}

/** An avatar as an absolute URL; a path is one of `baseUrl`. */
export function completeAvatar(userId: number, avatar: string | null, baseUrl: string): string {
  const url = avatar ?? drawnAvatarPath(userId);
  return url.startsWith("/") ? baseUrl + url : url;
}
