/** The routes for a single user: the public profile and the achievements. */
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { completeAvatar } from "../domain/avatar-url.ts";
import { AchievementEntry, Id, User } from "../domain/model.ts";
import type { Service } from "./app-options.ts";
import { textOf } from "./content.ts";
import { endpoints } from "./endpoints.ts";
import { errorTypes } from "./error-codes.ts";
import { fail } from "./errors.ts";
import { describeOperation } from "./openapi.ts";
import { ID } from "./url.ts";

const CACHE = "public";
type Achievements = { success: true; achievements: AchievementEntry[] };
const UserId = Type.String({ pattern: ID, error: "invalid_user_id" });

export const users = (service: Service) =>
  new Elysia({ strictPath: true })
    .derive(() => ({ cache: CACHE }))
    .guard({
      ...errorTypes.Users,
      params: Type.Object({ userId: UserId }),
    })
    .get(
      endpoints.getPublicUser.path,
      ({ request, params }) => {
        const id = Number(params.userId);
        const user = service.currentSnapshot().users.findProfile(id);
        if ("missing" in user) return fail(user.missing);
        const avatar_url = completeAvatar(id, user.avatar_url, service.baseUrl(request));
        return { success: true as const, user: { ...user, avatar_url } satisfies User };
      },
      { detail: publicUserOperation },
    )
    .get(
      endpoints.listUserAchievements.path,
      ({ params }) => {
        const json = service.currentSnapshot().users.findAchievements(Number(params.userId));
        if (typeof json !== "string") return fail(json.missing);
        return textOf<Achievements>(`{"success":true,"achievements":${json}}`, CACHE);
      },
      { detail: achievementsOperation },
    );

const common = {
  parameter: {
    in: "path",
    name: "userId",
    description: "The user's id, in decimal digits without a sign or leading zeros",
    schema: Id,
    example: 67,
  },
} as const;

const publicUserOperation = describeOperation({
  ...common,
  operationId: "getPublicUser",
  summary: "Get a public user profile",
  description: "Returns the profile of a user whose profile is public.",
  success: { user: User },
});

const achievementsOperation = describeOperation({
  ...common,
  operationId: "listUserAchievements",
  summary: "Get a user's achievements",
  description: "Returns all achievements of a public user, the most recently unlocked first.",
  success: { achievements: Type.Array(AchievementEntry) },
});
