/** The two search routes. The hooks in `beforeSearch` apply the rate limit. */
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { CompanySearchResult, UserSearchResult } from "../domain/model.ts";
import examples from "./examples.json" with { type: "json" };
import { describeOperation } from "./openapi.ts";
import { parseQuery } from "./request.ts";
import { fail, serializedJson } from "./result.ts";
import type { Hook, Service } from "./service.ts";

export interface SearchService extends Service {
  /** The hooks for the rate limit and the fault injector, if configured. */
  beforeSearch: Hook[];
}

export const search = (service: SearchService) =>
  new Elysia({ strictPath: true }).guard({ beforeHandle: service.beforeSearch }, (app) =>
    app
      .get(
        "/search/companies",
        ({ request }) => {
          const query = parseQuery(request.url);
          if (query === undefined) return fail("invalid_query");
          const companies = service.snapshot().search.listCompanies(query);
          return serializedJson<{ success: true; companies: CompanySearchResult[] }>(
            JSON.stringify({ success: true, companies }),
            "private",
          );
        },
        { detail: searchCompaniesOperation },
      )
      .get(
        "/search/users",
        ({ request }) => {
          const query = parseQuery(request.url);
          if (query === undefined) return fail("invalid_query");
          const baseUrl = service.baseUrl(request);
          const users = service.snapshot().search.listUsers(query, baseUrl);
          return serializedJson<{ success: true; users: UserSearchResult[] }>(
            JSON.stringify({ success: true, users }),
            "private",
          );
        },
        { detail: searchUsersOperation },
      ),
  );

const common = {
  tag: "Search",
  cache: "private",
  isLimited: true,
  isUnderApi: true,
  errors: ["invalid_query"],
} as const;

const q = {
  in: "query" as const,
  name: "q",
  description:
    "The text to find anywhere in a name. Case, accents and the order of words do not matter. " +
    "Names in Cyrillic, Greek, Armenian, Georgian, kana and Hangul can also be typed in Latin " +
    "letters, and ä ö ü å ø as ae oe ue aa oe. The parameter must be given exactly once and have " +
    "at least 2 code points, counted in NFC after white space is trimmed and collapsed to single " +
    "spaces. There is no maximum length. A text longer than any name matches nothing.",
  schema: Type.String({ minLength: 2 }),
};

const searchCompaniesOperation = describeOperation({
  ...common,
  operationId: "searchCompanies",
  summary: "Search companies by name",
  description:
    "Returns at most 10 companies, best match first. Among equals, the largest is first.",
  parameter: { ...q, example: "baltic" },
  success: { companies: Type.Array(CompanySearchResult, { maxItems: 10 }) },
  example: examples.searchCompanies,
});

const searchUsersOperation = describeOperation({
  ...common,
  operationId: "searchUsers",
  summary: "Search users by name",
  description:
    "Returns at most 10 users with public profiles, best match first. Among equals, the shortest " +
    "name is first.",
  parameter: { ...q, example: "nowak" },
  success: { users: Type.Array(UserSearchResult, { maxItems: 10 }) },
  example: examples.searchUsers,
});
