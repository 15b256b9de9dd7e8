/** Reads the records of the users and companies that a search has found. */
import {
  type CompanySearchResult,
  completeAvatar,
  type UserSearchResult,
} from "../domain/model.ts";
import type { Database } from "../sqlite/driver.ts";
import { NameSearch } from "./find.ts";
import { TRANSLITERATED } from "./fold.ts";
import type { NameKind } from "./tables.ts";

type UserHit = Omit<UserSearchResult, "avatar_url"> & { avatar_url: string | null };

export function openSearch({ $client }: Database) {
  const companyNames = new NameSearch($client, "company");
  const userNames = new NameSearch($client, "user");
  // The columns are in the order of the fields in a response.
  const readCompanies = $client.prepare<CompanySearchResult>(
    selectHits("company", "company.id, company.name, company.member_count"),
  );
  const readUsers = $client.prepare<UserHit>(
    selectHits("user", "user.id, user.name, avatar_url, company_name AS company"),
  );
  // Reading this many spellings takes a few milliseconds.
  const readSpellings = $client.prepare<{ folded: string }>(
    "SELECT folded FROM user_name WHERE instr(folded, char(10)) > 0 LIMIT 10000",
  );
  let hasLatin: boolean | undefined;
  const find = (names: NameSearch, queries: string[]) => JSON.stringify(names.find(queries));

  return {
    listCompanies: (queries: string[]): CompanySearchResult[] =>
      readCompanies.all(find(companyNames, queries)),

    /** Whether users can be found by the Latin spelling of a name in another script. */
    hasLatinSpellings: () =>
      (hasLatin ??= readSpellings.all().some(({ folded }) => folded.search(TRANSLITERATED) >= 0)),

    /** If an avatar is only a path, `baseUrl` is prepended. */
    listUsers: (queries: string[], baseUrl: string): UserSearchResult[] =>
      readUsers.all(find(userNames, queries)).map((hit) => ({
        ...hit,
        avatar_url: completeAvatar(hit.id, hit.avatar_url, baseUrl),
      })),
  };
}

/** Reads records by a JSON array of ranks, in its order: twice as fast as one record at a time. */
function selectHits(kind: NameKind, columns: string): string {
  return `SELECT ${columns}
    FROM json_each(?) AS hit
      CROSS JOIN ${kind}_name AS name ON name.rank = hit.value
      CROSS JOIN ${kind} ON ${kind}.id = name.id
    ORDER BY hit.key`;
}
