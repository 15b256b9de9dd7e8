/** The two search routes. Whether a client may search at all is decided before them. */
import { Type } from "@sinclair/typebox";
import { CompanySearchResult } from "../domain/company.ts";
import { UserSearchResult } from "../domain/user.ts";
import { absoluteUrl, baseUrlOf, type Context } from "./context.ts";
import examples from "./examples.json" with { type: "json" };
import type { Operation } from "./openapi.ts";
import { parseQuery } from "./request.ts";
import { fail, type Result, succeed } from "./result.ts";

export function searchCompanies({ request, service }: Context): Result {
  const query = parseQuery(request.url);
  if (query === undefined) return fail("invalid_query");
  const companies = service.snapshot().search.listCompanies(query);
  return write(companies, "", () => succeed({ companies }));
}

export function searchUsers(context: Context): Result {
  const query = parseQuery(context.request.url);
  if (query === undefined) return fail("invalid_query");
  const found = context.service.snapshot().search.listUsers(query);
  const baseUrl = baseUrlOf(context);
  return write(found, baseUrl, () =>
    succeed({
      users: found.map((user) => ({ ...user, avatar_url: absoluteUrl(user.avatar_url, baseUrl) })),
    }),
  );
}

/** As long as a list is cached, so is its JSON for the base URL that it was last asked for under. */
const written = new WeakMap<object, { baseUrl: string; result: Result }>();

function write(found: readonly object[], baseUrl: string, make: () => Result): Result {
  const last = written.get(found);
  if (last?.baseUrl === baseUrl) return last.result;
  const result = make();
  written.set(found, { baseUrl, result });
  return result;
}

const common: Pick<Operation, "tag" | "errors"> = { tag: "Search", errors: ["invalid_query"] };

const q = {
  in: "query" as const,
  name: "q",
  description:
    "What to look for, anywhere in the name; case, accents and the order of words do not matter. It comes exactly once and has at least 2 code points, counted in NFC with white space collapsed to single spaces and trimmed. There is no maximum: what is longer than any name matches nothing.",
  schema: Type.String({ minLength: 2 }),
};

export const searchCompaniesOperation: Operation = {
  ...common,
  summary: "Search companies by name",
  description: "At most 10 companies: the best matches first, larger before smaller.",
  parameter: { ...q, example: "baltic" },
  success: { companies: Type.Array(CompanySearchResult, { maxItems: 10 }) },
  example: examples.searchCompanies,
};

export const searchUsersOperation: Operation = {
  ...common,
  summary: "Search users by name",
  description:
    "At most 10 users with public profiles: the best matches first, shorter names before longer.",
  parameter: { ...q, example: "nowak" },
  success: { users: Type.Array(UserSearchResult, { maxItems: 10 }) },
  example: examples.searchUsers,
};
