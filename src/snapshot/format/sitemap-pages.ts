/** Divides the ids of users and companies into the pages of the sitemap. */
import { type NameKind, nameKinds } from "../../domain/model.ts";
import type { Sqlite } from "../../sqlite/driver.ts";

/** Listing this many takes 1 ms. */
const IDS_PER_PAGE = 5000;

/** The condition for the ids that are listed. Companies without public users are not. */
export const isListed: Record<NameKind, string> = {
  user: "true",
  company: "EXISTS (SELECT 1 FROM user WHERE company_id = company.id)",
};

/** Notes the first id on each page. */
export function divideSitemap(db: Sqlite): void {
  for (const kind of nameKinds) {
    const findId = (after: string, offset: number) =>
      `(SELECT id FROM ${kind} WHERE id > ${after} AND ${isListed[kind]}
        ORDER BY id LIMIT 1 OFFSET ${offset})`;
    db.exec(`DELETE FROM ${kind}_page;
      INSERT INTO ${kind}_page
        WITH RECURSIVE page (id) AS (
          SELECT ${findId("0", 0)}
          UNION ALL SELECT ${findId("page.id", IDS_PER_PAGE - 1)} FROM page WHERE page.id IS NOT NULL)
        SELECT id FROM page WHERE id IS NOT NULL`);
  }
}
