/** Roles of the platform: what the API returns and what a dataset line says. */
import { type Static, Type } from "@sinclair/typebox";
import { Id, Integer, Name } from "./schema.ts";

export const Role = Type.Object({ id: Id, name: Name, hierarchy: Integer });
export type Role = Static<typeof Role>;

/** The order in a profile: higher outranks lower. */
export function compareRoles(one: Role, other: Role): number {
  return other.hierarchy - one.hierarchy || one.id - other.id;
}

export const RoleLine = Type.Object(
  { type: Type.Literal("role"), id: Id, name: Name, hierarchy: Integer },
  { additionalProperties: false },
);
export type RoleLine = Static<typeof RoleLine>;
