/** The name searches. name-index/find.ts finds the ranks, and this module reads their rows. */
import { eq, sql } from "drizzle-orm";
import type { CompanySearchResult } from "../../domain/model.ts";
import { completeAvatar, type UserSearchResult } from "../../domain/model.ts";
import type { Database } from "../../sqlite/driver.ts";
import { companyName, userName } from "../format/schema.ts";
import { NameSearch } from "../name-index/find.ts";

const MAX_RESULTS = 10;

export function openSearch(db: Database) {
  const companyNames = new NameSearch(db.$client, "company");
  const userNames = new NameSearch(db.$client, "user");
  const rank = sql.placeholder("rank");
  const findCompany = db
    .select({
      id: companyName.id,
      name: companyName.name,
      member_count: companyName.memberCount,
    })
    .from(companyName)
    .where(eq(companyName.rank, rank))
    .prepare();
  const findUser = db
    .select({
      id: userName.id,
      name: userName.name,
      avatar_url: userName.avatarUrl,
      company: userName.companyName,
    })
    .from(userName)
    .where(eq(userName.rank, rank))
    .prepare();

  return {
    listCompanies: (query: string): CompanySearchResult[] =>
      companyNames.find(query, MAX_RESULTS).flatMap((rank) => findCompany.get({ rank }) ?? []),

    /** If an avatar is only a path, `baseUrl` is prepended. */
    listUsers: (query: string, baseUrl: string): UserSearchResult[] =>
      userNames.find(query, MAX_RESULTS).flatMap((rank) => {
        const hit = findUser.get({ rank });
        if (!hit) return [];
        return [{ ...hit, avatar_url: completeAvatar(hit.id, hit.avatar_url, baseUrl) }];
      }),
  };
}
