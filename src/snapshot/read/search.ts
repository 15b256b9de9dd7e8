/** The two name searches: which ids match is said by names/find.ts; this adds what a result shows. */
import type { CompanySearchResult } from "../../domain/company.ts";
import { drawnAvatarPath, type UserSearchResult } from "../../domain/user.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import { openNames } from "../names/find.ts";

const MAX_RESULTS = 10;

export interface Search {
  listCompanies(query: string): CompanySearchResult[];
  /** `avatar_url` may be a path. */
  listUsers(query: string): UserSearchResult[];
}

export function openSearch(db: Sqlite): Search {
  const companyNames = openNames(db, "company");
  const userNames = openNames(db, "user");
  const findCompany = db.prepare<CompanySearchResult>(
    "SELECT id, name, member_count FROM company WHERE id = ?",
  );
  const findUser = db.prepare<Omit<UserSearchResult, "avatar_url"> & { avatar_url: string | null }>(
    `SELECT id, name, avatar_url, (SELECT name FROM company WHERE id = company_id) AS company
       FROM user WHERE id = ?`,
  );
  return {
    listCompanies: (query) =>
      companyNames.find(query, MAX_RESULTS).flatMap((id) => findCompany.get(id) ?? []),
    listUsers: (query) =>
      userNames.find(query, MAX_RESULTS).flatMap((id) => {
        const user = findUser.get(id);
        return user ? { ...user, avatar_url: user.avatar_url ?? drawnAvatarPath(id) } : [];
      }),
  };
}
