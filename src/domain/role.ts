/** Roles on the platform, as the API returns them and as a dataset line defines them. */
import { type Static, Type } from "@sinclair/typebox";
import { closedObject, Id, Integer, Name } from "./schema.ts";

export const Role = Type.Object({ id: Id, name: Name, hierarchy: Integer });
export type Role = Static<typeof Role>;

/** The order in a profile. A higher `hierarchy` comes first. */
export function compareRoles(a: Role, b: Role): number {
  return b.hierarchy - a.hierarchy || a.id - b.id;
}

export const RoleLine = closedObject({ type: Type.Literal("role"), ...Role.properties });
export type RoleLine = Static<typeof RoleLine>;
