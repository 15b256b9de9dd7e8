/** The routes of pictures that the server draws: avatars of public drivers, badges, the page's icon. */
import { drawAvatar, drawBadge, favicon } from "../web/drawings.ts";
import type { Context } from "./context.ts";
import { parseUserId } from "./request.ts";
import { fail, type Result } from "./result.ts";
import { DRAWING_POLICY } from "./security-headers.ts";

/** A private driver has no avatar: its initials are of the name. */
export function getAvatar({ params, service }: Context): Result {
  const [, digits = ""] = /^(.*)\.svg$/s.exec(params.file ?? "") ?? [];
  if (digits === "") return fail("route_not_found");
  const id = parseUserId(digits);
  if (id === undefined) return fail("invalid_user_id");
  const user = service.snapshot().users.find(id);
  if (typeof user === "string") return fail(user);
  return drawn(drawAvatar(id, user.name));
}

/** The badge of the achievement that has the file as its icon. */
export function getIcon({ params, service }: Context): Result {
  const achievement = service.snapshot().users.findAchievementByIcon(params.file ?? "");
  return achievement ? drawn(drawBadge(achievement)) : fail("route_not_found");
}

export function getFavicon(): Result {
  return drawn(favicon);
}

function drawn(svg: string): Result {
  const headers = { "content-security-policy": DRAWING_POLICY };
  return { status: 200, type: "image/svg+xml; charset=utf-8", body: svg, headers };
}
