/** Searches names in PostgreSQL, using a pg_trgm index in a temporary cluster. */
import { join } from "node:path";
import { SQL } from "bun";
import { findFreePort, run, temporaryFolder, until } from "../../../test/support.ts";
import { spawnDatabase } from "../server.ts";
import { type Finder, patternsOf, readNames } from "./sqlite.ts";

/** Starts a PostgreSQL server. Returns undefined if PostgreSQL is not installed. */
export async function openPostgres(
  snapshot: string,
): Promise<(Finder & { buildMs: number }) | undefined> {
  const [programs = ""] = new Bun.Glob("/usr/lib/postgresql/*/bin").scanSync({ onlyFiles: false });
  const PATH = `${process.env.PATH}:${programs}`;
  const [initdb, postgres] = ["initdb", "postgres"].map((name) => Bun.which(name, { PATH }));
  if (!initdb || !postgres) return undefined;

  const folder = temporaryFolder();
  // PostgreSQL refuses to run as root.
  const user = process.getuid?.() === 0 ? ["setpriv", "--reuid=postgres", "--clear-groups"] : [];
  if (user.length > 0) await run(["chown", "postgres", folder]);
  const options = ["-D", join(folder, "data")];
  const inited = await run(
    [...user, initdb, ...options, "-U", "postgres", "-E", "UTF8", "--no-locale", "-A", "trust"],
    { cwd: folder },
  );
  if (inited.code !== 0) throw new Error(inited.stderr);
  const port = findFreePort();
  options.push("-p", `${port}`, "-k", folder, "-c", "listen_addresses=127.0.0.1");
  const stop = spawnDatabase([...user, postgres, ...options, "-c", "fsync=off"], folder);
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  await until(async () => {
    const sql = new SQL(url, { max: 1 });
    return sql`SELECT 1`.then(() => sql.close().then(() => true)).catch(() => false);
  });
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
      await stop();
    },
  };
}
