/** Reads companies and their public drivers. */
import { type CompanySearchResult, completeAvatar } from "../../domain/model.ts";
import type { Database } from "../../sqlite/driver.ts";
import { openPages } from "./pages.ts";

type DriverRow = Record<"name" | "role", string> & { id: number; avatar_url: string | null };

export function openCompanies({ $client }: Database) {
  const readCompany = $client.prepare<CompanySearchResult>(
    "SELECT id, name, member_count FROM company WHERE id = ?",
  );
  const readDrivers = $client.prepare<DriverRow>(
    `SELECT id, name, avatar_url, company_role AS role FROM user
      WHERE company_id = ? AND id > ? ORDER BY id LIMIT ?`,
  );
  return {
    find: (id: number) => readCompany.get(id) ?? undefined,
    /** Lists up to `limit` public drivers of a company whose ids are above `after`, by id. */
    listDrivers: (id: number, after: number, limit: number, baseUrl: string) =>
      readDrivers.all(id, after, limit).map((driver) => ({
        ...driver,
        avatar_url: completeAvatar(driver.id, driver.avatar_url, baseUrl),
      })),
    sitemap: openPages($client, "company"),
  };
}
