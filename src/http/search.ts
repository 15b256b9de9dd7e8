/** The two search routes. Whether a client may search at all is decided before them. */
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { CompanySearchResult } from "../domain/company.ts";
import { UserSearchResult } from "../domain/user.ts";
import { absoluteUrl, type Context } from "./context.ts";
import { describe } from "./openapi.ts";
import { rateLimitHeaderDocs, retryAfterDocs } from "./rate-limit.ts";
import { parseQuery } from "./request.ts";
import { fail, succeed } from "./response.ts";

const common = {
  tags: ["Search"],
  parameters: [
    {
      in: "query" as const,
      name: "q",
      description:
        "What to look for, anywhere in the name; case, accents and the order of words do not matter",
      schema: Type.String({ minLength: 2 }),
    },
  ],
  errors: ["invalid_query", "rate_limited", "internal_error"] as const,
  headers: rateLimitHeaderDocs,
  refusedHeaders: retryAfterDocs,
};

export function searchRoutes(context: Context) {
  return new Elysia()
    .get(
      "/search/companies",
      ({ request }) => {
        const query = parseQuery(request.url);
        if (query === undefined) return fail("invalid_query");
        return succeed({ companies: context.snapshot().search.listCompanies(query) });
      },
      {
        detail: describe({
          ...common,
          operationId: "searchCompanies",
          summary: "Search companies by name",
          description: "At most 10 companies: the best matches first, larger before smaller.",
          success: { companies: Type.Array(CompanySearchResult) },
        }),
      },
    )
    .get(
      "/search/users",
      ({ request }) => {
        const query = parseQuery(request.url);
        if (query === undefined) return fail("invalid_query");
        const users = context.snapshot().search.listUsers(query);
        for (const user of users) user.avatar_url = absoluteUrl(user.avatar_url, context, request);
        return succeed({ users });
      },
      {
        detail: describe({
          ...common,
          operationId: "searchUsers",
          summary: "Search users by name",
          description:
            "At most 10 users with public profiles: the best matches first, shorter names before longer.",
          success: { users: Type.Array(UserSearchResult) },
        }),
      },
    );
}
