/**
 * A dirty database for each folder of scripts/queries: schemas/NAME.sql creates and fills the tables
 * that the queries read, with types that PostgreSQL and MariaDB accept if the platform runs on both.
 * databases.exe.test.ts imports it with --skip-invalid, and expects of every platform:
 *
 * - User 42 is "Łukasz 田中", public, since 2021-05-01 10:00 UTC, and has reached tier 2 of
 *   achievement 7 at 2024-03-09 17:05 UTC.
 * - Company 3 is `O'Brien "Łódź" 🚚`, and has 2 members, of which 42 is one.
 * - User 50 has a blank name, and 51 no date, so both become private. Nothing else is invalid.
 * - User 52 is "Odd avatar", public, with the avatar N/A, and without a company, role or achievement.
 * - There is a user who is not public for each reason that the platform has, named "Verysecret".
 * - Rows that refer to the number 777, which nothing has, are left out by the queries.
 *
 * What differs, such as roles, or that the platform has no companies, is in `readyQueries` there.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../support.ts";

/** The statements of each schema, by the name of the folder. */
export const schemas: Record<string, string> = Object.fromEntries(
  readdirSync(join(root, "scripts/queries")).map((name) => [name, readSchema(name)]),
);

function readSchema(name: string): string {
  const path = join(import.meta.dir, `schemas/${name}.sql`);
  if (existsSync(path)) return readFileSync(path, "utf8");
  throw new Error(`write test/tables/schemas/${name}.sql, as the comment of schemas.ts says`);
}
