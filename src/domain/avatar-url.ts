/** Which avatars are valid, and the URL of a user's avatar: without one, that of a drawing. */
import { isText } from "./text.ts";

/** In code points. */
export const MAX_AVATAR = 2048;

/** Browsers treat `//host` and `/\host` as URLs of another site, so neither is a valid path. */
export const AVATAR = /^([Hh][Tt][Tt][Pp][Ss]?:\/\/[^/\s\p{Cc}]|\/(?![/\\]))[^\s\p{Cc}]*$/u;

export function isAvatar(value: string): boolean {
  const isPath = value[0] === "/";
  return isText(value, MAX_AVATAR) && AVATAR.test(value) && (isPath || URL.canParse(value));
}

/** Returns the avatar as an absolute URL. */
export function completeAvatar(userId: number, avatar: string | null, baseUrl: string): string {
  const url = avatar ?? `/avatars/${userId}.svg`;
  return url.startsWith("/") ? baseUrl + url : url;
}
