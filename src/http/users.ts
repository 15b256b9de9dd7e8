/** The routes for a single user: the public profile and the achievements. */
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { AchievementEntry, Id, User } from "../domain/model.ts";
import { describeOperation, ORIGIN } from "./openapi.ts";
import { UserIdParams } from "./request.ts";
import { fail } from "./result.ts";
import type { Service } from "./service.ts";

export const users = (service: Service) =>
  new Elysia({ strictPath: true })
    .derive(() => ({ cache: "public" as const }))
    .guard({ params: UserIdParams, beforeHandle: service.faults })
    .get(
      "/users/public/:userId",
      ({ request, params }) => {
        const id = Number(params.userId);
        const user = service.snapshot().users.findProfile(id, service.baseUrl(request));
        return "missing" in user ? fail(user.missing) : { success: true as const, user };
      },
      { detail: publicUserOperation },
    )
    .get(
      "/users/:userId/achievements",
      ({ params }) => {
        const json = service.snapshot().users.findAchievements(Number(params.userId));
        return typeof json === "string" ? toBody(json) : fail(json.missing);
      },
      { detail: achievementsOperation },
    );

/** The body stays text, which is several times as fast, but clients know its type. */
function toBody(achievements: string) {
  const body: unknown = `{"success":true,"achievements":${achievements}}`;
  return body as { success: true; achievements: AchievementEntry[] };
}

const common = {
  tag: "Users",
  errors: ["invalid_user_id", "profile_private", "user_not_found"],
} as const;

const userId = {
  in: "path",
  name: "userId",
  description: "The user's id, in decimal digits without a sign or leading zeros",
  schema: Id,
} as const;

const publicUserOperation = describeOperation({
  ...common,
  operationId: "getPublicUser",
  summary: "Get a public user profile",
  description: "Returns the profile of a user whose profile is public.",
  parameter: { ...userId, example: 42 },
  success: { user: User },
  example: {
    success: true,
    user: {
      id: 42,
      name: "Łukasz Nowak",
      avatar_url: `${ORIGIN}/avatars/42.svg`,
      company: { id: 3, name: "Baltic Express", role: "Owner" },
      roles: [
        { id: 5, name: "Event Organiser", hierarchy: 40 },
        { id: 4, name: "Convoy Leader", hierarchy: 30 },
        { id: 2, name: "Patron", hierarchy: 15 },
        { id: 1, name: "Driver", hierarchy: 10 },
      ],
      created_at: "2014-05-07T20:13:13Z",
    },
  },
});

const achievementsOperation = describeOperation({
  ...common,
  operationId: "listUserAchievements",
  summary: "Get a user's achievements",
  description:
    "Returns all achievements of a user whose profile is public, the most recently unlocked first.",
  parameter: { ...userId, example: 14 },
  success: { achievements: Type.Array(AchievementEntry) },
  example: {
    success: true,
    achievements: [
      {
        achievement: {
          id: 1,
          name: "First Gear",
          description: "Deliver your first load and ask only once where reverse is.",
          icon: "first-gear.svg",
          type: "delivery",
          tier: 1,
          points: 5,
        },
        tier: 1,
        unlocked_at: "2014-09-09T11:29:58Z",
      },
    ],
  },
});
