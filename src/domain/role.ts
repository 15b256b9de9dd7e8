/** Schemas for roles on the platform, in API responses and in dataset lines. */
import { type Static, Type } from "@sinclair/typebox";
import { closedObject, Id, Integer, Name } from "./schema.ts";

export const Role = Type.Object({ id: Id, name: Name, hierarchy: Integer });
export type Role = Static<typeof Role>;

/** The sort order of roles in a profile: higher `hierarchy` first, then lower id. */
export function compareRoles(a: Role, b: Role): number {
  return b.hierarchy - a.hierarchy || a.id - b.id;
}

export const RoleLine = closedObject({ type: Type.Literal("role"), ...Role.properties });
export type RoleLine = Static<typeof RoleLine>;
