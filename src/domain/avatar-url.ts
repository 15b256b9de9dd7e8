/** Checks avatars, and completes their URLs. A user without an avatar gets that of a drawing. */
import { isPlaceholder, isText, isUncomputed } from "./text.ts";

/** In code points. */
export const MAX_AVATAR = 2048;

/** Browsers treat `//host` and `/\host` as URLs of another site, so neither is a valid path. */
export const AVATAR = /^([Hh][Tt][Tt][Pp][Ss]?:\/\/[^/\s\p{Cc}]|\/(?![/\\]))[^\s\p{Cc}]*$/u;

export function isAvatar(value: string): boolean {
  const isPath = value[0] === "/";
  return isText(value, MAX_AVATAR) && AVATAR.test(value) && (isPath || URL.canParse(value));
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
