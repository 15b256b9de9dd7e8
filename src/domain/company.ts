/** Schemas for companies: a search result, a reference in a user's profile, and a dataset line. */
import { type Static, Type } from "@sinclair/typebox";
import { Count, closedObject, Id, Name } from "./schema.ts";

export const CompanySearchResult = Type.Object({ id: Id, name: Name, member_count: Count });
export type CompanySearchResult = Static<typeof CompanySearchResult>;

/** The company in a user's profile. `role` is the user's role in the company. */
export const CompanyReference = Type.Object({ id: Id, name: Name, role: Name });
export type CompanyReference = Static<typeof CompanyReference>;

export const CompanyLine = closedObject({
  type: Type.Literal("company"),
  ...CompanySearchResult.properties,
});
export type CompanyLine = Static<typeof CompanyLine>;
