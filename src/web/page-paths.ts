/** The paths of the page. Routes serve them, and pages link to them. */
import { completeAvatar } from "../domain/avatar-url.ts";
import type { User } from "../domain/model.ts";

export const FAVICON_PATH = "/favicon.svg";

/** The id may also be the name of a route's parameter. */
export const driverPath = <Id extends number | string>(id: Id) => `/drivers/${id}` as const;
export const companyPath = <Id extends number | string>(id: Id) => `/companies/${id}` as const;

/** The path of a script, a style sheet or a logo. */
export const assetPath = <File extends string>(file: File) => `/assets/${file}` as const;

/** Whether an avatar is drawn here. A user's own picture may also be below `/avatars/`. */
export function isDrawnAvatar(user: Pick<User, "id" | "avatar_url">, baseUrl: string): boolean {
  return user.avatar_url === completeAvatar(user.id, null, baseUrl);
}
