/** Reads the ids whose pages the sitemap lists. */
import { and, between, count, sql } from "drizzle-orm";
import type { NameKind } from "../../domain/model.ts";
import type { Database } from "../../sqlite/driver.ts";
import { company, companyPage, user, userPage } from "../format/schema.ts";
import { isListed } from "../format/sitemap-pages.ts";

/** The ids of public users, or of companies that have one, in pages for the sitemap. */
export class SitemapIds {
  readonly #statements: ReturnType<typeof prepareForPages>;

  constructor(db: Database, kind: NameKind) {
    this.#statements = prepareForPages(db, kind);
  }

  countPages(): number {
    return this.#statements.count.get()?.pages ?? 0;
  }

  /** Lists the ids on a page. The first page is 0. */
  listIds(page: number): number[] {
    const first = this.#statements.first.get({ page });
    const next = this.#statements.first.get({ page: page + 1 });
    if (!first) return [];

    const to = next ? next.id - 1 : Number.MAX_SAFE_INTEGER;
    return JSON.parse(this.#statements.ids.get({ from: first.id, to })?.ids ?? "[]");
  }
}

function prepareForPages(db: Database, kind: NameKind) {
  const { records, pages } = {
    user: { records: user, pages: userPage },
    company: { records: company, pages: companyPage },
  }[kind];
  const isOnPage = between(records.id, sql.placeholder("from"), sql.placeholder("to"));
  return {
    count: db.select({ pages: count() }).from(pages).prepare(),
    first: db
      .select({ id: pages.first_id })
      .from(pages)
      .orderBy(pages.first_id)
      .limit(1)
      .offset(sql.placeholder("page"))
      .prepare(),
    // One value, because thousands of rows would take several times as much memory.
    ids: db
      .select({ ids: sql<string>`json_group_array(${records.id} ORDER BY ${records.id})` })
      .from(records)
      .where(and(isOnPage, sql.raw(isListed[kind])))
      .prepare(),
  };
}
