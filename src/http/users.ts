/** The routes of one user: the public profile and the achievements. */
import { Type } from "@sinclair/typebox";
import { AchievementEntry } from "../domain/achievement.ts";
import { Id } from "../domain/schema.ts";
import { User } from "../domain/user.ts";
import { absoluteUrl, baseUrlOf, type Context } from "./context.ts";
import examples from "./examples.json" with { type: "json" };
import type { Operation } from "./openapi.ts";
import { parseUserId } from "./request.ts";
import { fail, type Result, succeed } from "./result.ts";

export function getPublicUser(context: Context): Result {
  const id = parseUserId(context.params.userId ?? "");
  if (id === undefined) return fail("invalid_user_id");
  const user = context.service.snapshot().users.find(id);
  if (typeof user === "string") return fail(user);
  user.avatar_url = absoluteUrl(user.avatar_url, baseUrlOf(context));
  return succeed({ user });
}

export function listUserAchievements({ params, service }: Context): Result {
  const id = parseUserId(params.userId ?? "");
  if (id === undefined) return fail("invalid_user_id");
  const achievements = service.snapshot().users.listAchievements(id);
  if (typeof achievements === "string") return fail(achievements);
  return succeed({ achievements });
}

const userId = {
  in: "path" as const,
  name: "userId",
  description: "The user's id, in plain digits",
  schema: Id,
};

const common = {
  tag: "Users" as const,
  errors: ["invalid_user_id", "profile_private", "user_not_found"] as const,
};

export const publicUserOperation: Operation = {
  ...common,
  summary: "Get a public user profile",
  description: "The profile of a user, when the user has made it public.",
  parameter: { ...userId, example: 42 },
  success: { user: User },
  example: examples.getPublicUser,
};

export const achievementsOperation: Operation = {
  ...common,
  summary: "Get a user's achievements",
  description: "All achievements that a user with a public profile unlocked, newest first.",
  parameter: { ...userId, example: 46 },
  success: { achievements: Type.Array(AchievementEntry) },
  example: examples.listUserAchievements,
};
