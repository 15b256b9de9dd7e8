/** Checks avatars, and completes their URLs. A user without an avatar gets that of a drawing. */
import { isPlaceholder, isUncomputed } from "./no-value.ts";
import { isText } from "./text.ts";

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

/** Resolves an avatar as a browser would, unless it is an http(s) URL or stands for none. */
export function resolveAvatar(avatar: string, base: string): string {
  if (/^https?:\/\//i.test(avatar) || isPlaceholder(avatar) || isUncomputed(avatar)) return avatar;
  return URL.parse(avatar, base)?.href ?? avatar;
}
