/** Reads companies with their public users. */
import { and, count, eq, exists, getTableColumns, gt, sql } from "drizzle-orm";
import type { CompanySearchResult } from "../../domain/model.ts";
import { lazy } from "../../domain/once.ts";
import type { Database } from "../../sqlite/driver.ts";
import { company, companyRank, user } from "../format/schema.ts";

const LARGEST_COMPANIES = 12;
const id = sql.placeholder("id");

export function companyQueries(db: Database) {
  // Prepared when they are first used, because drizzle takes milliseconds for its first queries.
  const statements = lazy(() => prepareForCompanies(db));
  return {
    find: (id: number): CompanySearchResult | undefined => statements().company.get({ id }),
    /** Lists the largest {@link LARGEST_COMPANIES}. */
    listLargest: (): CompanySearchResult[] => statements().largest.all(),
    /** Lists up to `limit` ids above `after` of companies that have public users, in order. */
    listIds: (after: number, limit: number) =>
      statements()
        .ids.all({ after, limit })
        .map(({ id }) => id),
    /** Counts the public users of a company, but at most up to `limit`. */
    countUsers: (id: number, limit: number) => statements().count.get({ id, limit })?.count ?? 0,
    /** Lists up to `limit` public users of a company whose ids are above `after`, by id. */
    listUsers: (id: number, after: number, limit: number) =>
      statements().users.all({ id, after, limit }),
  };
}

function prepareForCompanies(db: Database) {
  const { folded, ...fields } = getTableColumns(company);
  const { name, avatar_url, company_role } = user;
  const limit = sql.placeholder("limit");
  const isAfter = gt(company.id, sql.placeholder("after"));
  const users = db.select().from(user).where(eq(user.company_id, company.id));
  const counted = db.select({ id: user.id }).from(user).where(eq(user.company_id, id));

  return {
    company: db.select(fields).from(company).where(eq(company.id, id)).prepare(),
    ids: db
      .select({ id: company.id })
      .from(company)
      .where(and(isAfter, exists(users)))
      .orderBy(company.id)
      .limit(limit)
      .prepare(),
    users: db
      .select({ id: user.id, name, avatar_url, role: company_role })
      .from(user)
      .where(and(eq(user.company_id, id), gt(user.id, sql.placeholder("after"))))
      .orderBy(user.id)
      .limit(limit)
      .prepare(),
    count: db.select({ count: count() }).from(counted.limit(limit).as("counted")).prepare(),
    largest: db
      .select(fields)
      .from(companyRank)
      .innerJoin(company, eq(company.id, companyRank.id))
      .orderBy(companyRank.rank)
      .limit(LARGEST_COMPANIES)
      .prepare(),
  };
}
