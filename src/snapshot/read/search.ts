/**
 * The two name searches: name-index/find.ts finds which ids match, this adds what a result shows. Results
 * of queries that are asked again are cached, and go when the snapshot goes.
 */
import { LRUCache } from "lru-cache";
import type { CompanySearchResult } from "../../domain/company.ts";
import { drawnAvatarPath, type UserSearchResult } from "../../domain/user.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import { openNames } from "../name-index/find.ts";

const MAX_RESULTS = 10;

/**
 * People type the same few first letters: of a million users looked for by Zipf's law, with two to six
 * characters of their names, half of the queries are cached and a third of the time is spared. A
 * thousand queries are some 3 MB; nobody asks a long one again.
 */
const MAX_CACHED_QUERIES = 1000;
const MAX_CACHED_QUERY_LENGTH = 50;

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
    listCompanies: cached((query) =>
      listCompanies.all(JSON.stringify(companyNames.find(query, MAX_RESULTS))),
    ),
    /** `avatar_url` may be a path. */
    listUsers: cached((query) =>
      listUsers.all(JSON.stringify(userNames.find(query, MAX_RESULTS))).map((user) => ({
        ...user,
        avatar_url: user.avatar_url ?? drawnAvatarPath(user.id),
      })),
    ),
  };
}

function cached<Result extends object>(list: (query: string) => Result[]) {
  const cache = new LRUCache<string, readonly Readonly<Result>[]>({ max: MAX_CACHED_QUERIES });
  return (query: string) => {
    const found = cache.get(query);
    if (found) return found;
    const results = list(query);
    if (query.length <= MAX_CACHED_QUERY_LENGTH) cache.set(query, results);
    return results;
  };
}
