/** The two search routes. A search is counted before its query is validated. */
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import {
  CompanySearchResult,
  completeAvatar,
  MAX_RESULTS,
  type Stored,
  UserSearchResult,
} from "../domain/model.ts";
import { paragraph } from "../domain/text.ts";
import { normalizeQuery, SEARCHABLE } from "../search/fold.ts";
import type { RouteOptions } from "./app-options.ts";
import { endpoints } from "./endpoints.ts";
import { errorTypes, fail } from "./errors.ts";
import { describeOperation } from "./openapi.ts";
import { type Counters, failLimited } from "./rate-limit.ts";

/** A typed client must send q. It may be missing here, because such a search counts, too. */
const Query = Type.Unsafe<{ q: string }>(Type.Object({ q: Type.Optional(Type.String()) }));

export const search = ({ reloadable, counters, baseUrl }: RouteOptions) =>
  new Elysia()
    .guard({ ...errorTypes<"Search">(), query: Query })
    .get(
      endpoints.searchCompanies.path,
      async ({ request, query }) => {
        const q = await admit(counters, request, query);
        if (typeof q !== "string") return q;
        const companies = await reloadable.readWithPauses(({ search }) => search.listCompanies(q));
        return { success: true as const, companies };
      },
      { detail: searchCompaniesOperation },
    )
    .get(
      endpoints.searchUsers.path,
      async ({ request, query }) => {
        const q = await admit(counters, request, query);
        if (typeof q !== "string") return q;
        const found = await reloadable.readWithPauses(({ search }) => search.listUsers(q));
        return { success: true as const, users: toResults(found, baseUrl(request)) };
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
const missing = fail("invalid_query", {
  message:
    "The query parameter q is missing; send ?q= followed by at least 2 characters of a name.",
});

/** Counts a search, and returns its normalized query, or the error instead. */
async function admit(counters: Counters | undefined, request: Request, { q }: { q?: string }) {
  const refused = await counters?.countSearch(request);
  if (refused) return failLimited(refused);
  if (q === undefined) return missing;
  const query = normalizeQuery(q);
  return SEARCHABLE.test(query) ? query : fail("invalid_query");
}

const parameter = {
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
  parameter: { ...parameter, example: "baltic" },
  success: { companies: Type.Array(CompanySearchResult, { maxItems: MAX_RESULTS }) },
});

const searchUsersOperation = describeOperation({
  operationId: "searchUsers",
  summary: "Search users by name",
  description: `Returns at most ${MAX_RESULTS} public users: best match first, then short names.`,
  parameter: { ...parameter, example: "lukasz nowak" },
  success: { users: Type.Array(UserSearchResult, { maxItems: MAX_RESULTS }) },
});
