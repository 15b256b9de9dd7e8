#!/usr/bin/env bash
# MariaDB applies a condition from outside to a subquery with GROUP BY before it groups, but only if the
# condition has literals. With parameters of a prepared statement, it reads the whole table.
# MariaDB 10.11.19 of Debian 12, whose documentation calls this "condition pushdown into derived table".
set -euo pipefail
source "$(dirname "$0")/lib.sh"
debian_packages mariadb-server-core
npm_packages mysql2@3.24.6
start_mariadb

cat >program.mjs <<'PROGRAM'
import mysql from "mysql2/promise";

const db = await mysql.createConnection(process.argv[2]);
const columns = "user_id INT, achievement_id INT, PRIMARY KEY (user_id, achievement_id)";
const rows = "SELECT u.seq, a.seq FROM seq_1_to_20000 u, seq_1_to_5 a";
await db.query(`CREATE TABLE user_achievement (${columns})`);
await db.query(`INSERT INTO user_achievement ${rows}`);
await db.query("ANALYZE TABLE user_achievement");

/** Prints how many rows MariaDB reads for the users from 101 to 110. */
async function count(name, run) {
  await db.query("FLUSH STATUS");
  const [{ length }] = await run();
  const [statuses] = await db.query("SHOW STATUS LIKE 'Handler_read%'");
  const reads = statuses.reduce((sum, { Value }) => sum + Number(Value), 0);
  const shown = reads > 100_000 ? "over 100000" : reads < 1000 ? "under 1000" : reads;
  console.log(`${name}: ${length} rows, ${shown} read`);
}
const counts = "SELECT user_id, COUNT(*) FROM user_achievement GROUP BY user_id";
const page = `SELECT * FROM (${counts}) AS q WHERE q.user_id`;
await count("literals", () => db.query(`${page} BETWEEN 101 AND 110`));
await count("literals, prepared", () => db.execute(`${page} BETWEEN 101 AND 110`));
await count("parameters", () => db.execute(`${page} BETWEEN ? AND ?`, [101, 110]));
await db.end();
PROGRAM

expect node program.mjs "$url" <<'SEEN'
mariadb-server-core 10.11.19
mysql2 3.24.6
literals: 10 rows, under 1000 read
literals, prepared: 10 rows, under 1000 read
parameters: 10 rows, over 100000 read
SEEN
