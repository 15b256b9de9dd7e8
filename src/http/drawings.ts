/** Serves drawings: avatars of public drivers, badges of achievements, and the site's icon. */
import { Elysia } from "elysia";
import { DEFAULT_ACCENT } from "../web/brand.ts";
import { drawAvatar, drawAvatarPng, drawBadge, drawFavicon } from "../web/drawings.ts";
import { parseUserId } from "./request.ts";
import { type Body, Content, fail } from "./result.ts";
import type { Service } from "./service.ts";

/** A drawing consists of shapes and text only. */
const DRAWING_POLICY = "default-src 'none'; frame-ancestors 'none'";

export const drawings = (
  service: Service & { page?: { accent?: string | undefined } | undefined },
) =>
  new Elysia({ strictPath: true })
    // A private driver has no avatar, because the initials would hint at the name.
    .get("/avatars/:file", ({ params }) => {
      // An `avatar_url` may be /avatars/ann.png. Here, that is an unknown path, not an invalid id.
      const [, digits = "", kind] = /^(.*)\.(svg|(?<=^\d+\.)png)$/s.exec(params.file) ?? [];
      if (digits === "") return fail("route_not_found");
      const id = parseUserId(digits);
      if (id === undefined) return fail("invalid_user_id");
      const name = service.snapshot().users.findName(id);
      if (typeof name !== "string") return fail(name.missing);
      return kind === "svg" ? svg(drawAvatar(id, name)) : drawAvatarPng(id, name).then(png);
    })
    .get("/icons/:file", ({ params }) => {
      const achievement = service.snapshot().users.findAchievementByIcon(params.file);
      return achievement ? svg(drawBadge(achievement)) : fail("route_not_found");
    })
    .get("/favicon.svg", () => svg(drawFavicon(service.page?.accent ?? DEFAULT_ACCENT)));

const png = (bytes: Body) => new Content("image/png", bytes, { cache: "public" });

function svg(text: string): Content {
  const headers = { "content-security-policy": DRAWING_POLICY };
  return new Content("image/svg+xml; charset=utf-8", text, { cache: "public", headers });
}
