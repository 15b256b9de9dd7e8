/** Dirty databases for the queries in scripts/queries. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const names = ["plain", "laravel", "phpbb", "xenforo", "discourse", "mybb"] as const;

/** Statements that fill a schema, with types that both databases accept if the platform does. */
export const schemas = Object.fromEntries(
  names.map((name) => [name, readFileSync(join(import.meta.dir, `schemas/${name}.sql`), "utf8")]),
) as Record<(typeof names)[number], string>;
