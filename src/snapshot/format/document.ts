/**
 * The document of a public user, which is the row of `user`: a profile is one read, and nothing is put
 * together from other tables.
 *
 * `profile` is the JSON text that the API returns for a user, but for what would repeat itself in most rows:
 * `avatar_url` is null for a drawing and may be a path, and `roles` has ids. `achievements` is a JSON list
 * of [achievement id, tier, seconds since 1970], newest first, then by id.
 */
import { formatTime, parseTime } from "../../domain/time.ts";
import { drawnAvatarPath, type PublicUserLine, type User } from "../../domain/user.ts";

/** With a thousand roles or achievements, and the longest texts with all their characters escaped. */
export const MAX_DOCUMENT_BYTES = 2 ** 16;

export interface Profile extends Omit<User, "avatar_url" | "roles"> {
  avatar_url: string | null;
  roles: number[];
}

export type Unlock = [achievementId: number, tier: number, unlockedAt: number];

export interface UserDocument {
  profile: string;
  achievements: string;
}

/** The document of a dataset line. `companyName` is the name of its company, which the line has not. */
export function documentOf(line: PublicUserLine, companyName: string): UserDocument {
  const { id, name, avatar_url = null, company, roles = [], achievements = [] } = line;
  const profile: Profile = {
    id,
    name,
    avatar_url,
    company: company ? { id: company.id, name: companyName, role: company.role } : null,
    roles: roles.toSorted((a, b) => a - b),
    created_at: utcTimeOf(line.created_at),
  };
  const unlocks = achievements.map(
    ({ id, tier, unlocked_at }): Unlock => [id, tier, parseTime(unlocked_at) ?? 0],
  );
  unlocks.sort(([a, , aTime], [b, , bTime]) => bTime - aTime || a - b);
  return { profile: JSON.stringify(profile), achievements: JSON.stringify(unlocks) };
}

/** Most times are written like that already. */
const UTC_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

function utcTimeOf(time: string): string {
  return UTC_TIME.test(time) ? time : formatTime(parseTime(time) ?? 0);
}

/** The profile of a document, to be read in part; most readers want its text as it is. */
export function parseProfile(profile: string): Profile {
  return JSON.parse(profile);
}

export function parseUnlocks(achievements: string): Unlock[] {
  return JSON.parse(achievements);
}

// Neither can be inside a string of JSON text, where quotes are escaped.
const UNFINISHED_AVATAR = /"avatar_url":(?:null|"(?=\/))/;
const ROLE_IDS = /"roles":\[([\d,]+)\]/;

/**
 * The text of a profile as the API returns it: avatar paths are completed with `baseUrl`, and `rolesOf`
 * gives the JSON of the roles with these ids, in the order of the API.
 */
export function finishProfile(
  id: number,
  profile: string,
  baseUrl: string,
  rolesOf: (ids: string) => string,
): string {
  return profile
    .replace(UNFINISHED_AVATAR, (text) => {
      const base = JSON.stringify(baseUrl).slice(0, -1);
      return text.endsWith("null")
        ? `"avatar_url":${base}${drawnAvatarPath(id)}"`
        : `"avatar_url":${base}`;
    })
    .replace(ROLE_IDS, (_, ids) => `"roles":${rolesOf(ids)}`);
}

/** An avatar as an absolute URL. */
export function completeAvatar(id: number, avatar: string | null, baseUrl: string): string {
  const url = avatar ?? drawnAvatarPath(id);
  return url.startsWith("/") ? baseUrl + url : url;
}
