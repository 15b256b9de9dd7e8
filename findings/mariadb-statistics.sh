#!/usr/bin/env bash
# In tables that were just filled, MariaDB has no statistics until a thread in the background or ANALYZE
# TABLE makes them. Until then, a join for a page of ten users begins with the wrong table.
# MariaDB 10.11.19 of Debian 12; https://mariadb.com/kb/en/innodb-persistent-statistics/.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
debian_packages mariadb-server-core
npm_packages mysql2@3.24.6
# The thread in the background would make the statistics at some time.
start_mariadb --innodb-stats-auto-recalc=0

cat >program.mjs <<'PROGRAM'
import mysql from "mysql2/promise";

const db = await mysql.createConnection(process.argv[2]);
await db.query("CREATE TABLE role (id INT PRIMARY KEY, name VARCHAR(20))");
const columns = "user_id INT, role_id INT, PRIMARY KEY (user_id, role_id), KEY (role_id)";
await db.query(`CREATE TABLE user_role (${columns})`);
await db.query("INSERT INTO role SELECT seq, 'Driver' FROM seq_1_to_20");
await db.query("INSERT INTO user_role SELECT u.seq, r.seq FROM seq_1_to_20000 u, seq_1_to_5 r");

async function count(name) {
  await db.query("FLUSH STATUS");
  const [{ length }] = await db.query(
    "SELECT * FROM user_role JOIN role ON role.id = role_id WHERE user_id BETWEEN 101 AND 110",
  );
  const [statuses] = await db.query("SHOW STATUS LIKE 'Handler_read%'");
  const reads = statuses.reduce((sum, { Value }) => sum + Number(Value), 0);
  const shown = reads > 100_000 ? "over 100000" : reads < 1000 ? "under 1000" : reads;
  console.log(`${name}: ${length} rows, ${shown} read`);
}
await count("without statistics");
await db.query("ANALYZE TABLE role, user_role");
await count("with statistics");
await db.end();
PROGRAM

expect node program.mjs "$url" <<'SEEN'
mariadb-server-core 10.11.19
mysql2 3.24.6
without statistics: 50 rows, over 100000 read
with statistics: 50 rows, under 1000 read
SEEN
