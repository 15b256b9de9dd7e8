/** The two search routes. Whether a client may search at all is decided before them. */
import { Type } from "@sinclair/typebox";
import { CompanySearchResult } from "../domain/company.ts";
import { UserSearchResult } from "../domain/user.ts";
import { absoluteUrl, type Context } from "./context.ts";
import type { Operation } from "./openapi.ts";
import { rateLimitHeaderDocs, retryAfterDocs } from "./rate-limit.ts";
import { parseQuery } from "./request.ts";
import { fail, type Result, succeed } from "./result.ts";

export function searchCompanies({ request, service }: Context): Result {
  const query = parseQuery(request.url);
  if (query === undefined) return fail("invalid_query");
  return succeed({ companies: service.snapshot().search.listCompanies(query) });
}

export function searchUsers(context: Context): Result {
  const query = parseQuery(context.request.url);
  if (query === undefined) return fail("invalid_query");
  const found = context.service.snapshot().search.listUsers(query);
  const users = found.map((user) => ({
    ...user,
    avatar_url: absoluteUrl(user.avatar_url, context),
  }));
  return succeed({ users });
}

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
  limitedHeaders: retryAfterDocs,
};

export const searchCompaniesOperation: Operation = {
  ...common,
  summary: "Search companies by name",
  description: "At most 10 companies: the best matches first, larger before smaller.",
  success: { companies: Type.Array(CompanySearchResult) },
};

export const searchUsersOperation: Operation = {
  ...common,
  summary: "Search users by name",
  description:
    "At most 10 users with public profiles: the best matches first, shorter names before longer.",
  success: { users: Type.Array(UserSearchResult) },
};
