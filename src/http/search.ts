/** The two search routes. The rate limit counts a search before its query is validated. */
import { Type } from "@sinclair/typebox";
import { type Context, Elysia, status } from "elysia";
import {
  CompanySearchResult,
  completeAvatar,
  MAX_RESULTS,
  type Stored,
  UserSearchResult,
} from "../domain/model.ts";
import { paragraph } from "../domain/text.ts";
import { normalizeQuery, SEARCHABLE } from "../search/fold.ts";
import type { Service } from "./app-options.ts";
import { endpoints } from "./endpoints.ts";
import { errors } from "./error-codes.ts";
import { errorBody, errorTypes } from "./errors.ts";
import { describeOperation } from "./openapi.ts";
import { limitHooks } from "./rate-limit.ts";

const Query = Type.Object({ q: Type.RegExp(SEARCHABLE, { error: "invalid_query" }) });

export const search = (service: Service) =>
  new Elysia()
    .guard({
      ...errorTypes.Search,
      query: Query,
      transform: [...limitHooks(service), normalize(service)],
    })
    .get(
      endpoints.searchCompanies.path,
      async ({ query }) => {
        const companies = await service.readWithPauses(({ search }) =>
          search.listCompanies(query.q),
        );
        return { success: true as const, companies };
      },
      { detail: searchCompaniesOperation },
    )
    .get(
      endpoints.searchUsers.path,
      async ({ request, query }) => {
        const found = await service.readWithPauses(({ search }) => search.listUsers(query.q));
        return { success: true as const, users: toResults(found, service.baseUrl(request)) };
      },
      { detail: searchUsersOperation },
    );

function toResults(users: Stored<UserSearchResult>[], baseUrl: string): UserSearchResult[] {
  return users.map(({ id, name, avatar_url, company }) => ({
    id,
    name,
    avatar_url: completeAvatar(id, avatar_url, baseUrl),
    company,
  }));
}

/** A request with `?query=` or `?q[]=` has no q. */
const missing = status(
  errors.invalid_query.status,
  errorBody(
    "invalid_query",
    "The query parameter q is missing; send ?q= followed by at least 2 characters of a name.",
  ),
);

const normalize =
  ({ end }: Service) =>
  ({ request, route, query }: Pick<Context, "request" | "route"> & { query: { q?: string } }) => {
    const isMissing = query.q === undefined;
    query.q = normalizeQuery(query.q ?? "");
    return isMissing ? end(request, route, missing) : undefined;
  };

const q = {
  in: "query",
  name: "q",
  description: paragraph(
    "The text to find in a name: at least 2 code points, not counting surrounding space. Case and",
    "accents do not matter, and words of at least 2 code points each may be in any order. If given",
    "more than once, the last one counts.",
  ),
  schema: Type.String({ minLength: 2 }),
} as const;

const searchCompaniesOperation = describeOperation({
  operationId: "searchCompanies",
  summary: "Search companies by name",
  description: `Returns at most ${MAX_RESULTS} companies: best match first, then the largest.`,
  parameter: { ...q, example: "baltic" },
  success: { companies: Type.Array(CompanySearchResult, { maxItems: MAX_RESULTS }) },
});

const searchUsersOperation = describeOperation({
  operationId: "searchUsers",
  summary: "Search users by name",
  description: `Returns at most ${MAX_RESULTS} public users: best match first, then short names.`,
  parameter: { ...q, example: "lukasz nowak" },
  success: { users: Type.Array(UserSearchResult, { maxItems: MAX_RESULTS }) },
});
