/** The routes for a single user: the public profile and the achievements. */
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { AchievementEntry, User } from "../domain/model.ts";
import { Id } from "../domain/schema.ts";
import examples from "./examples.json" with { type: "json" };
import { describeOperation } from "./openapi.ts";
import { parseUserId } from "./request.ts";
import { fail, serializedJson } from "./result.ts";
import { hooksOf, type Service } from "./service.ts";

export const users = (service: Service) =>
  new Elysia({ strictPath: true }).guard({ beforeHandle: hooksOf(service.fault) }, (app) =>
    app
      .get(
        "/users/public/:userId",
        ({ request, params }) => {
          const id = parseUserId(params.userId);
          if (id === undefined) return fail("invalid_user_id");
          const user = service.snapshot().users.findProfile(id, service.baseUrl(request));
          if ("missing" in user) return fail(user.missing);
          return serializedJson<{ success: true; user: User }>(
            JSON.stringify({ success: true, user }),
            "public",
          );
        },
        { detail: publicUserOperation },
      )
      .get(
        "/users/:userId/achievements",
        ({ params }) => {
          const id = parseUserId(params.userId);
          if (id === undefined) return fail("invalid_user_id");
          const achievements = service.snapshot().users.findAchievements(id);
          if (typeof achievements !== "string") return fail(achievements.missing);
          return serializedJson<{ success: true; achievements: AchievementEntry[] }>(
            `{"success":true,"achievements":${achievements}}`,
            "public",
          );
        },
        { detail: achievementsOperation },
      ),
  );

const userId = {
  in: "path" as const,
  name: "userId",
  description: "The user's id, in decimal digits without a sign or leading zeros",
  schema: Id,
};

const common = {
  tag: "Users",
  cache: "public",
  isUnderApi: true,
  errors: ["invalid_user_id", "profile_private", "user_not_found"],
} as const;

const publicUserOperation = describeOperation({
  ...common,
  operationId: "getPublicUser",
  summary: "Get a public user profile",
  description: "Returns the profile of a user whose profile is public.",
  parameter: { ...userId, example: 42 },
  success: { user: User },
  example: examples.getPublicUser,
});

const achievementsOperation = describeOperation({
  ...common,
  operationId: "listUserAchievements",
  summary: "Get a user's achievements",
  description:
    "Returns all achievements of a user whose profile is public, the most recently unlocked first.",
  parameter: { ...userId, example: 46 },
  success: { achievements: Type.Array(AchievementEntry) },
  example: examples.listUserAchievements,
});
