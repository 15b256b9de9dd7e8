#!/usr/bin/env bash
# How Bun's SQL and mysql2 give the same row of MariaDB to a process in Tokyo. They differ in BIT(1), in
# integers above 2^53, and in whether DATETIME is UTC or the time of the process. In both, a FLOAT has
# other digits than in MariaDB's text, and the date 0000-00-00 is an invalid Date instead of null.
# Bun 1.4.5, mysql2 3.24.6, MariaDB 10.11.19 of Debian 12.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
debian_packages mariadb-server-core
npm_packages bun@1.4.5 mysql2@3.24.6
start_mariadb

cat >program.mjs <<'PROGRAM'
const url = process.argv[2];
const statements = [
  "SET sql_mode = ''",
  "CREATE OR REPLACE TABLE t (bit1 BIT(1), bit8 BIT(8), big BIGINT, time DATETIME, zero DATE, f FLOAT)",
  "INSERT INTO t VALUES (1, 1, 76561198012345681, '2026-01-02 03:04:05', '0000-00-00', 0.1)",
];
let row;
if (process.versions.bun) {
  const { SQL } = await import("bun");
  const sql = new SQL({ url, max: 1 });
  for (const statement of statements) await sql.unsafe(statement);
  [row] = await sql`SELECT * FROM t`;
  await sql.close();
} else {
  const { default: mysql } = await import("mysql2/promise");
  const db = await mysql.createConnection(url);
  for (const statement of statements) await db.query(statement);
  [[row]] = await db.execute("SELECT * FROM t");
  await db.end();
}

const show = (value) => {
  if (value instanceof Uint8Array) return `bytes ${[...value]}`;
  return value instanceof Date && Number.isNaN(value.getTime()) ? String(value) : JSON.stringify(value);
};
console.log(process.versions.bun ? "Bun:" : "mysql2:");
for (const [name, value] of Object.entries(row)) console.log(`  ${name}: ${show(value)}`);
PROGRAM
export TZ=Asia/Tokyo

expect bash -c "bun program.mjs $url && node program.mjs $url" <<'SEEN'
mariadb-server-core 10.11.19
bun 1.4.5
mysql2 3.24.6
Bun:
  bit1: true
  bit8: bytes 1
  big: "76561198012345681"
  time: "2026-01-02T03:04:05.000Z"
  zero: Invalid Date
  f: 0.10000000149011612
mysql2:
  bit1: bytes 1
  bit8: bytes 1
  big: 76561198012345680
  time: "2026-01-01T18:04:05.000Z"
  zero: Invalid Date
  f: 0.10000000149011612
SEEN
