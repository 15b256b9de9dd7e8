/** The two name searches, results: name-index/find.ts finds the ids, this reads the hits. */
import { eq, sql } from "drizzle-orm";
import type { CompanySearchResult } from "../../domain/company.ts";
import type { UserSearchResult } from "../../domain/user.ts";
import type { Database } from "../../sqlite/driver.ts";
import { completeAvatar, parseProfile } from "../format/document.ts";
import { company } from "../format/schema.ts";
import { openNames } from "../name-index/find.ts";
import { prepareFind } from "./documents.ts";

const MAX_RESULTS = 10;

export function openSearch(db: Database) {
  const companyNames = openNames(db.$client, "company");
  const userNames = openNames(db.$client, "user");
  const findCompany = db
    .select({ id: company.id, name: company.name, member_count: company.memberCount })
    .from(company)
    .where(eq(company.id, sql.placeholder("id")))
    .prepare();
  const findProfile = prepareFind(db, "profile");

  return {
    listCompanies: (query: string): CompanySearchResult[] =>
      companyNames.find(query, MAX_RESULTS).flatMap((id) => findCompany.get({ id }) ?? []),

    /** Avatar paths are completed with `baseUrl`. */
    listUsers: (query: string, baseUrl: string): UserSearchResult[] =>
      userNames.find(query, MAX_RESULTS).flatMap((id) => {
        const profile = findProfile(id);
        if (profile === undefined) return [];
        const { name, avatar_url, company } = parseProfile(profile);
        const url = completeAvatar(id, avatar_url, baseUrl);
        return [{ id, name, avatar_url: url, company: company?.name ?? null }];
      }),
  };
}
