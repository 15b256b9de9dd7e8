/** Reads companies and their public drivers. */
import { and, eq, gt, sql } from "drizzle-orm";
import { completeAvatar } from "../../domain/model.ts";
import type { Database } from "../../sqlite/driver.ts";
import { company, user } from "../format/schema.ts";
import { openIdPages } from "./id-pages.ts";

export function openCompanies(db: Database) {
  const id = sql.placeholder("id");
  const readCompany = db.select().from(company).where(eq(company.id, id)).prepare();
  const { name, avatar_url, company_role } = user;
  const readDrivers = db
    .select({ id: user.id, name, avatar_url, role: company_role })
    .from(user)
    .where(and(eq(user.company_id, id), gt(user.id, sql.placeholder("after"))))
    .orderBy(user.id)
    .limit(sql.placeholder("limit"))
    .prepare();
  return {
    find: (id: number) => readCompany.get({ id }),
    /** Lists up to `limit` public drivers of a company whose ids are above `after`, by id. */
    listDrivers: (id: number, after: number, limit: number, baseUrl: string) =>
      readDrivers.all({ id, after, limit }).map((driver) => ({
        ...driver,
        avatar_url: completeAvatar(driver.id, driver.avatar_url, baseUrl),
      })),
    sitemap: openIdPages(db, "company"),
  };
}
