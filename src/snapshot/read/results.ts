/** Reads the users and companies that a search has found. */
import { eq, sql } from "drizzle-orm";
import type { CompanySearchResult, NameKind } from "../../domain/model.ts";
import { lazy } from "../../domain/once.ts";
import { MAX_SIMILAR, NameSearch } from "../../search/find.ts";
import { type Database, prepareText } from "../../sqlite/driver.ts";
import { company, user } from "../format/schema.ts";

/** A JSON array of ids in the order of results: twice as fast as reading one record at a time. */
const found = sql`json_each(${sql.placeholder("ids")}) AS found`;
const foundId = sql<number>`found.value`;
const place = sql`found.key`;

export function searchQueries(db: Database) {
  const companyNames = lazy(() => new NameSearch(db.$client, "company"));
  const userNames = lazy(() => new NameSearch(db.$client, "user"));
  const companies = lazy(() => prepareCompanies(db));
  const users = lazy(() => prepareUsers(db));
  return {
    /** Pass this and `listUsers` to `search` of `reload.ts`. */
    *listCompanies(query: string): Generator<void, CompanySearchResult[]> {
      return companies().all(JSON.stringify(yield* companyNames().find(query)));
    },
    /** Times are in Unix seconds, because formatting them would delay the API, which has none. */
    *listUsers(query: string) {
      return users().all(JSON.stringify(yield* userNames().find(query)));
    },
    /** Returns up to three users and companies in all whose names a query misses by a slip or two. */
    listSimilar(query: string) {
      const similar = [
        ...userNames()
          .listSimilar(query)
          .map((name) => ({ ...name, kind: "user" })),
        ...companyNames()
          .listSimilar(query)
          .map((name) => ({ ...name, kind: "company" })),
      ];
      const nearest = similar.sort((a, b) => a.slips - b.slips).slice(0, MAX_SIMILAR);
      const idsOf = (wanted: NameKind) =>
        JSON.stringify(nearest.filter(({ kind }) => kind === wanted).map(({ id }) => id));
      return { drivers: users().all(idsOf("user")), companies: companies().all(idsOf("company")) };
    },
    /** Whether a user has a name in another script, which is also found in Latin letters. */
    hasOtherScripts: () => userNames().hasOtherScripts(),
  };
}

function prepareCompanies(db: Database) {
  const companies = db
    .select({ id: company.id, name: company.name, member_count: company.member_count })
    .from(found)
    .crossJoin(company)
    .where(eq(company.id, foundId))
    .orderBy(place);
  return prepareText(db, companies);
}

function prepareUsers(db: Database) {
  const { id, name, avatar_url, company_name, created_at } = user;
  const companyName = sql<string | null>`${company_name}`.as("company");
  const users = db
    .select({ id, name, avatar_url, company: companyName, created_at })
    .from(found)
    .crossJoin(user)
    .where(eq(id, foundId))
    .orderBy(place);
  return prepareText(db, users);
}
