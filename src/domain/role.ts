/** Roles of the platform: what the API returns and what a dataset line says. */
import { type Static, Type } from "@sinclair/typebox";
import { Id, Integer, Name } from "./schema.ts";

export const Role = Type.Object({ id: Id, name: Name, hierarchy: Integer });
export type Role = Static<typeof Role>;

export const RoleLine = Type.Object(
  { type: Type.Literal("role"), id: Id, name: Name, hierarchy: Integer },
  { additionalProperties: false },
);
export type RoleLine = Static<typeof RoleLine>;
