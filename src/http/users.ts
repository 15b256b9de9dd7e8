/** The routes for a single user: the public profile and the achievements. */
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { AchievementEntry, completeAvatar, Id, type Stored, User } from "../domain/model.ts";
import type { RouteOptions } from "./app-options.ts";
import { jsonText } from "./content.ts";
import { endpoints, ID } from "./endpoints.ts";
import { errorTypes, fail } from "./errors.ts";
import { describeOperation } from "./openapi.ts";

type Achievements = { success: true; achievements: AchievementEntry[] };
const UserId = Type.String({ pattern: ID, error: "invalid_user_id" });

export const users = ({ reloadable, baseUrl }: RouteOptions) =>
  new Elysia()
    .guard({
      ...errorTypes<"Users">(),
      params: Type.Object({ userId: UserId }),
    })
    .get(
      endpoints.getPublicUser.path,
      ({ request, params }) => {
        const user = reloadable.current().users.findProfile(Number(params.userId));
        if ("missing" in user) return fail(user.missing);
        return { success: true as const, user: completeUser(user, baseUrl(request)) };
      },
      { detail: publicUserOperation },
    )
    .get(
      endpoints.listUserAchievements.path,
      ({ params }) => {
        const json = reloadable.current().users.findAchievements(Number(params.userId));
        if (typeof json !== "string") return fail(json.missing);
        const text = `{"success":true,"achievements":${json}}`;
        return jsonText<Achievements>(text, endpoints.listUserAchievements);
      },
      { detail: achievementsOperation },
    );

function completeUser(user: Stored<User>, baseUrl: string): User {
  return { ...user, avatar_url: completeAvatar(user.id, user.avatar_url, baseUrl) };
}

const common = {
  parameter: {
    in: "path",
    name: "userId",
    description: "The user's id, in decimal digits without a sign or leading zeros",
    schema: Id,
    example: 12,
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
