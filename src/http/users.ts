/**
 * The routes for a single user: the public profile and the achievements. Their handlers respond without
 * a promise, as app.ts explains.
 */
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { AchievementEntry, completeAvatar, Id, type Stored, User } from "../domain/model.ts";
import type { RouteOptions } from "./app-options.ts";
import { Content, JSON_TYPE } from "./content.ts";
import { endpoints, ID } from "./endpoints.ts";
import { errorTypes, fail } from "./errors.ts";
import { describeOperation } from "./openapi.ts";

type Achievements = { success: true; achievements: AchievementEntry[] };
const UserId = Type.String({ pattern: ID, error: "invalid_user_id" });

export const users = ({ reloadable, baseUrl }: RouteOptions) =>
  new Elysia()
    .guard({
      ...errorTypes.Users,
      params: Type.Object({ userId: UserId }),
    })
    .get(
      endpoints.getPublicUser.path,
      ({ request, params }) => {
        const user = reloadable.current().users.findProfile(Number(params.userId));
        return "missing" in user
          ? fail(user.missing)
          : { success: true as const, user: completeUser(user, baseUrl(request)) };
      },
      { detail: publicUserOperation },
    )
    .get(
      endpoints.listUserAchievements.path,
      ({ params }) => {
        const json = reloadable.current().users.findAchievements(Number(params.userId));
        return typeof json === "string" ? toAchievements(json) : fail(json.missing);
      },
      { detail: achievementsOperation },
    );

function completeUser(user: Stored<User>, baseUrl: string): User {
  return { ...user, avatar_url: completeAvatar(user.id, user.avatar_url, baseUrl) };
}

/** The text as it is sent, typed as what it says, which is what a typed client gets. */
function toAchievements(json: string): Achievements {
  const { cache } = endpoints.listUserAchievements;
  const text = `{"success":true,"achievements":${json}}`;
  const content: unknown = new Content(JSON_TYPE, text, { cache });
  return content as Achievements;
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
