/** Reads companies with their public users. */
import { and, count, eq, getTableColumns, gt, sql } from "drizzle-orm";
import type { CompanySearchResult } from "../../domain/model.ts";
import type { Database } from "../../sqlite/driver.ts";
import { company, companyRank, user } from "../format/schema.ts";
import { SitemapIds } from "./sitemap-ids.ts";

/** How many companies {@link Companies} lists by size. */
const LARGEST_COMPANIES = 12;
const id = sql.placeholder("id");

export class Companies {
  readonly sitemap: SitemapIds;
  readonly #statements: ReturnType<typeof prepareForCompanies>;

  constructor(db: Database) {
    this.sitemap = new SitemapIds(db, "company");
    this.#statements = prepareForCompanies(db);
  }

  find(id: number): CompanySearchResult | undefined {
    return this.#statements.company.get({ id });
  }

  listLargest(): CompanySearchResult[] {
    return this.#statements.largest.all();
  }

  /** Counts the public users of a company, but at most up to `limit`. */
  countUsers(id: number, limit: number): number {
    return this.#statements.count.get({ id, limit })?.count ?? 0;
  }

  /** Lists up to `limit` public users of a company whose ids are above `after`, by id. */
  listUsers(id: number, after: number, limit: number) {
    return this.#statements.users.all({ id, after, limit });
  }
}

function prepareForCompanies(db: Database) {
  const { folded, ...fields } = getTableColumns(company);
  const { name, avatar_url, company_role } = user;
  const limit = sql.placeholder("limit");
  const counted = db.select({ id: user.id }).from(user).where(eq(user.company_id, id));

  return {
    company: db.select(fields).from(company).where(eq(company.id, id)).prepare(),
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
