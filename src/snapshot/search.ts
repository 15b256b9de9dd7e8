/** The two name searches: which ids match is said by names.ts; this adds what a result shows. */
import { eq, sql } from "drizzle-orm";
import type { CompanySearchResult } from "../domain/company.ts";
import type { UserSearchResult } from "../domain/user.ts";
import { openNames } from "./names.ts";
import { company, user } from "./schema.ts";
import type { Sqlite } from "./sqlite.ts";

const MAX_RESULTS = 10;

export interface Search {
  listCompanies(query: string): CompanySearchResult[];
  /** `avatar_url` is as the dataset has it. */
  listUsers(query: string): UserSearchResult[];
}

export function openSearch(db: Sqlite): Search {
  const companyNames = openNames(db, "company");
  const userNames = openNames(db, "user");
  const id = sql.placeholder("id");
  const findCompany = db.orm
    .select({ id: company.id, name: company.name, member_count: company.memberCount })
    .from(company)
    .where(eq(company.id, id))
    .prepare();
  const findUser = db.orm
    .select({ id: user.id, name: user.name, avatar_url: user.avatarUrl, company: company.name })
    .from(user)
    .leftJoin(company, eq(company.id, user.companyId))
    .where(eq(user.id, id))
    .prepare();
  return {
    listCompanies: (query) =>
      companyNames.find(query, MAX_RESULTS).flatMap((id) => findCompany.get({ id }) ?? []),
    listUsers: (query) =>
      userNames.find(query, MAX_RESULTS).flatMap((id) => findUser.get({ id }) ?? []),
  };
}
