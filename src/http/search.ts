/** The two search routes. The rate limit counts a search before its query is validated. */
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { CompanySearchResult, UserSearchResult } from "../domain/model.ts";
import { MAX_RESULTS } from "../snapshot/read/search.ts";
import { describeOperation, ORIGIN } from "./openapi.ts";
import { normalizeText, SEARCHABLE } from "./request.ts";
import type { Hook, Service } from "./service.ts";

export interface SearchService extends Service {
  /** Counts a search, and refuses it if the client is over the limit. Empty without a limit. */
  limitSearch: Hook[];
}

const Query = Type.Object({ q: Type.RegExp(SEARCHABLE, { error: "invalid_query" }) });

export const search = (service: SearchService) =>
  new Elysia({ strictPath: true })
    .derive(() => ({ cache: "private" as const }))
    .guard({
      query: Query,
      transform: [...service.limitSearch, normalizeQuery],
      beforeHandle: service.faults,
    })
    .get(
      "/search/companies",
      ({ query }) => {
        const companies = service.snapshot().search.listCompanies(query.q);
        return { success: true as const, companies };
      },
      { detail: searchCompaniesOperation },
    )
    .get(
      "/search/users",
      ({ request, query }) => {
        const users = service.snapshot().search.listUsers(query.q, service.baseUrl(request));
        return { success: true as const, users };
      },
      { detail: searchUsersOperation },
    );

function normalizeQuery({ query }: { query: { q?: string } }): void {
  query.q = normalizeText(query.q ?? "");
}

const common = {
  tag: "Search",
  errors: ["invalid_query", "rate_limited"],
} as const;

const q = {
  in: "query",
  name: "q",
  description:
    "The text to find anywhere in a name. Case, accents and the order of words do not matter. " +
    "Names in Cyrillic, Greek, Armenian, Georgian, kana and Hangul can also be typed in Latin " +
    "letters, and ä ö ü å ø as ae oe ue aa oe. The text must have at least 2 code points, " +
    "counted in NFC after white space is trimmed and collapsed to single spaces. There is no " +
    "maximum length. A text longer than any name matches nothing. If the parameter is given more " +
    "than once, the last one counts.",
  schema: Type.String({ minLength: 2 }),
} as const;

const searchCompaniesOperation = describeOperation({
  ...common,
  operationId: "searchCompanies",
  summary: "Search companies by name",
  description:
    `Returns at most ${MAX_RESULTS} companies, best match first. Among equals, the largest is ` +
    "first.",
  parameter: { ...q, example: "baltic" },
  success: { companies: Type.Array(CompanySearchResult, { maxItems: MAX_RESULTS }) },
  example: {
    success: true,
    companies: [{ id: 3, name: "Baltic Express", member_count: 41 }],
  },
});

const searchUsersOperation = describeOperation({
  ...common,
  operationId: "searchUsers",
  summary: "Search users by name",
  description:
    `Returns at most ${MAX_RESULTS} users with public profiles, best match first. Among equals, ` +
    "the shortest name is first.",
  parameter: { ...q, example: "lukasz nowak" },
  success: { users: Type.Array(UserSearchResult, { maxItems: MAX_RESULTS }) },
  example: {
    success: true,
    users: [
      {
        id: 42,
        name: "Łukasz Nowak",
        avatar_url: `${ORIGIN}/avatars/42.svg`,
        company: "Baltic Express",
      },
    ],
  },
});
