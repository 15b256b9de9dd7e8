/** Lists the ids of public users, or of companies that have one, in pages for the sitemap. */
import { sql } from "drizzle-orm";
import type { NameKind } from "../../search/tables.ts";
import type { Database } from "../../sqlite/driver.ts";

/** Each page covers this many ranks, between which there are gaps. */
const PAGE_RANKS = sql.raw("5000");

export function openIdPages(db: Database, kind: NameKind) {
  const names = sql.identifier(`${kind}_name`);
  const listed =
    kind === "user" ? sql`TRUE` : sql`EXISTS (SELECT 1 FROM user WHERE company_id = ${names}.id)`;
  const selectRank = sql`SELECT rank / ${PAGE_RANKS} FROM ${names}`;
  // Finds each page from the previous one, because reading all ranks would take too long.
  const readPages = db
    .select({ page: sql<number>`page` })
    .from(
      sql`(WITH RECURSIVE pages (page) AS (
        SELECT * FROM (${selectRank} WHERE ${listed} ORDER BY rank LIMIT 1)
        UNION ALL SELECT (
          ${selectRank} WHERE rank >= (page + 1) * ${PAGE_RANKS} AND ${listed} ORDER BY rank LIMIT 1
        ) FROM pages WHERE page IS NOT NULL
      ) SELECT page FROM pages WHERE page IS NOT NULL)`,
    )
    .prepare();
  const page = sql.placeholder("page");
  // One value, because thousands of rows would take several times as much memory.
  const readIds = db
    .select({ ids: sql<string>`json_group_array(id ORDER BY rank)` })
    .from(sql`${names}`)
    .where(
      sql`rank >= ${page} * ${PAGE_RANKS} AND rank < (${page} + 1) * ${PAGE_RANKS} AND ${listed}`,
    )
    .prepare();
  return {
    /** Returns the numbers of all pages that have ids. */
    listPages: (): number[] => readPages.all().map(({ page }) => page),
    listIds: (page: number): number[] => JSON.parse(readIds.get({ page })?.ids ?? "[]"),
  };
}
