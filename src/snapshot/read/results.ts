/** Reads the users and companies that a search has found. */
import { eq, getTableColumns, type SQL, sql } from "drizzle-orm";
import {
  type CompanySearchResult,
  completeAvatar,
  type UserSearchResult,
} from "../../domain/model.ts";
import { NameSearch } from "../../search/find.ts";
import { TRANSLITERATED } from "../../search/fold.ts";
import type { NameKind } from "../../search/tables.ts";
import { type Database, prepareText } from "../../sqlite/driver.ts";
import { company, user } from "../format/schema.ts";

export function openResults(db: Database) {
  const companyNames = new NameSearch(db.$client, "company");
  const userNames = new NameSearch(db.$client, "user");
  // The fields are in the order of a response.
  const { id, name, avatar_url, company_name } = user;
  const users = db
    .select({ id, name, avatar_url, company: sql<string | null>`${company_name}`.as("company") })
    .from(hits("user"))
    .crossJoin(user)
    .where(eq(id, sql`hit.id`))
    .orderBy(sql`listed.key`);
  const readUsers = prepareText(db, users);
  const companies = db
    .select(getTableColumns(company))
    .from(hits("company"))
    .crossJoin(company)
    .where(eq(company.id, sql`hit.id`))
    .orderBy(sql`listed.key`);
  const readCompanies = prepareText(db, companies);
  // Reading this many spellings takes a few milliseconds.
  const readSpellings = db
    .select({ folded: sql<string>`folded` })
    .from(sql`user_name`)
    .where(sql`instr(folded, char(10)) > 0`)
    .limit(10_000)
    .prepare();
  let hasLatin: boolean | undefined;
  const find = (names: NameSearch, queries: string[]) => JSON.stringify(names.find(queries));

  return {
    listCompanies: (queries: string[]): CompanySearchResult[] =>
      readCompanies.all(find(companyNames, queries)),

    /** Whether users can be found by the Latin spelling of a name in another script. */
    hasLatinSpellings: () =>
      (hasLatin ??= readSpellings.all().some(({ folded }) => folded.search(TRANSLITERATED) >= 0)),

    listUsers: (queries: string[], baseUrl: string): UserSearchResult[] =>
      readUsers.all(find(userNames, queries)).map((hit) => ({
        ...hit,
        avatar_url: completeAvatar(hit.id, hit.avatar_url, baseUrl),
      })),
  };
}

/** The ids for a JSON array of ranks: twice as fast as reading one record at a time. */
function hits(kind: NameKind): SQL {
  const names = sql.identifier(`${kind}_name`);
  return sql`json_each(${sql.placeholder("ranks")}) AS listed
    CROSS JOIN ${names} AS hit ON hit.rank = listed.value`;
}
