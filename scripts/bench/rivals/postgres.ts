/** Searches names in PostgreSQL, using a pg_trgm index in a temporary cluster. */
import { SQL } from "bun";
import { hasPostgres, startPostgres } from "../../../test/tables/servers.ts";
import { type Finder, patternsOf, readNames } from "./sqlite.ts";

/** Starts a PostgreSQL server. Returns undefined if PostgreSQL is not installed. */
export async function openPostgres(
  snapshot: string,
): Promise<(Finder & { buildMs: number }) | undefined> {
  if (!hasPostgres) return undefined;
  const server = await startPostgres();
  const { url } = server;
  const sql = new SQL(url, { max: 1 });
  await sql`CREATE EXTENSION pg_trgm`;
  await sql`CREATE TABLE name (rank int PRIMARY KEY, folded text NOT NULL)`;
  const names = readNames(snapshot);
  const start = performance.now();
  for (let from = 0; from < names.length; from += 10_000)
    await sql`INSERT INTO name ${sql(names.slice(from, from + 10_000))}`;
  await sql`CREATE INDEX ON name USING gin (folded gin_trgm_ops)`;
  await sql`VACUUM ANALYZE name`;
  const buildMs = performance.now() - start;
  return {
    buildMs,
    find(query) {
      const { $q, $prefix, $like } = patternsOf(query);
      return sql`SELECT rank FROM name WHERE folded LIKE ${$like}
        ORDER BY (folded = ${$q}) DESC, (folded LIKE ${$prefix}) DESC, rank LIMIT 10`;
    },
    async close() {
      await sql.close();
      await server.close();
    },
  };
}
