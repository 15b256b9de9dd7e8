/** The two search routes. Whether a client may search at all is decided before them. */
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { CompanySearchResult } from "../domain/company.ts";
import { UserSearchResult } from "../domain/user.ts";
import examples from "./examples.json" with { type: "json" };
import { describeOperation } from "./openapi.ts";
import { parseQuery } from "./request.ts";
import { fail, finishedJson } from "./result.ts";
import { type Hook, hooksOf, type Service } from "./service.ts";

/** `limit` refuses a client that has used up its searches; without it, nobody is refused. */
export const search = (service: Service & { limit: Hook | undefined }) =>
  new Elysia({ strictPath: true }).guard(
    { beforeHandle: hooksOf(service.limit, service.fault) },
    (app) =>
      app
        .get(
          "/search/companies",
          ({ request }) => {
            const query = parseQuery(request.url);
            if (query === undefined) return fail("invalid_query");
            const companies = service.snapshot().search.listCompanies(query);
            return finishedJson<{ success: true; companies: CompanySearchResult[] }>(
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
            return finishedJson<{ success: true; users: UserSearchResult[] }>(
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
    "What to look for, anywhere in the name; case, accents and the order of words do not matter. Names in Cyrillic, Greek, Armenian, Georgian, kana and Hangul are found in Latin letters, too, and ä ö ü å ø as ae oe ue aa oe. It comes exactly once and has at least 2 code points, counted in NFC with white space collapsed to single spaces and trimmed. There is no maximum: what is longer than any name matches nothing.",
  schema: Type.String({ minLength: 2 }),
};

const searchCompaniesOperation = describeOperation({
  ...common,
  operationId: "searchCompanies",
  summary: "Search companies by name",
  description: "At most 10 companies: the best matches first, larger before smaller.",
  parameter: { ...q, example: "baltic" },
  success: { companies: Type.Array(CompanySearchResult, { maxItems: 10 }) },
  example: examples.searchCompanies,
});

const searchUsersOperation = describeOperation({
  ...common,
  operationId: "searchUsers",
  summary: "Search users by name",
  description:
    "At most 10 users with public profiles: the best matches first, shorter names before longer.",
  parameter: { ...q, example: "nowak" },
  success: { users: Type.Array(UserSearchResult, { maxItems: 10 }) },
  example: examples.searchUsers,
});
