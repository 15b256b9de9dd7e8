/** Lists the ids of public users, or of companies that have one, in pages for the sitemap. */

import type { NameKind } from "../../search/tables.ts";
import type { Sqlite } from "../../sqlite/driver.ts";

/** Each page covers this many ranks, between which there are gaps. */
const PAGE_RANKS = 5_000;

export function openPages($client: Sqlite, kind: NameKind) {
  const listed =
    kind === "user" ? "TRUE" : "EXISTS (SELECT 1 FROM user WHERE company_id = company_name.id)";
  const selectRank = `SELECT rank / ${PAGE_RANKS} FROM ${kind}_name`;
  // Finds each page from the previous one, because reading all ranks would take too long.
  const readPages = $client.prepare<{ page: number }>(
    `WITH RECURSIVE pages (page) AS (
      SELECT * FROM (${selectRank} WHERE ${listed} ORDER BY rank LIMIT 1)
      UNION ALL SELECT (
        ${selectRank} WHERE rank >= (page + 1) * ${PAGE_RANKS} AND ${listed} ORDER BY rank LIMIT 1
      ) FROM pages WHERE page IS NOT NULL
    ) SELECT page FROM pages WHERE page IS NOT NULL`,
  );
  // One value, because thousands of rows would take several times as much memory.
  const readIds = $client.prepare<{ ids: string }>(
    `SELECT json_group_array(id ORDER BY rank) AS ids FROM ${kind}_name
      WHERE rank >= ?1 * ${PAGE_RANKS} AND rank < (?1 + 1) * ${PAGE_RANKS} AND ${listed}`,
  );
  return {
    /** Returns the numbers of all pages that have ids. */
    listPages: (): number[] => readPages.all().map(({ page }) => page),
    listIds: (page: number): number[] => JSON.parse(readIds.get(page)?.ids ?? "[]"),
  };
}
