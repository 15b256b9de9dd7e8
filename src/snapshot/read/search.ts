/** The two name searches: name-index/find.ts finds which ids match, this adds what a result shows. */
import type { CompanySearchResult } from "../../domain/company.ts";
import { drawnAvatarPath, type UserSearchResult } from "../../domain/user.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import { openNames } from "../name-index/find.ts";

const MAX_RESULTS = 10;

export function openSearch(db: Sqlite) {
  const companyNames = openNames(db, "company");
  const userNames = openNames(db, "user");
  // One statement for all results takes a sixth less than one for each. A cross join keeps their order.
  const listCompanies = db.prepare<CompanySearchResult>(
    `SELECT company.id, name, member_count
       FROM json_each(?) AS found CROSS JOIN company ON company.id = found.value`,
  );
  const listUsers = db.prepare<
    Omit<UserSearchResult, "avatar_url"> & { avatar_url: string | null }
  >(
    `SELECT user.id, name, avatar_url,
            (SELECT name FROM company WHERE company.id = company_id) AS company
       FROM json_each(?) AS found CROSS JOIN user ON user.id = found.value`,
  );
  return {
    listCompanies: (query: string) =>
      listCompanies.all(JSON.stringify(companyNames.find(query, MAX_RESULTS))),
    /** `avatar_url` may be a path. */
    listUsers: (query: string) =>
      listUsers.all(JSON.stringify(userNames.find(query, MAX_RESULTS))).map((user) => ({
        ...user,
        avatar_url: user.avatar_url ?? drawnAvatarPath(user.id),
      })),
  };
}
