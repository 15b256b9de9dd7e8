#!/usr/bin/env bash
# Building a drizzle query takes many times as long as running it: reading a row by a query that is built
# each time takes more than five times the processor time of one that was prepared once.
# drizzle-orm 0.45.4 on Bun 1.4.5; https://orm.drizzle.team/docs/perf-queries.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5 drizzle-orm@0.45.4

cat >program.ts <<'PROGRAM'
import { Database } from "bun:sqlite";
import { eq, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

const user = sqliteTable("user", { id: integer().primaryKey(), name: text() });
const client = new Database(":memory:");
client.run("CREATE TABLE user (id INTEGER PRIMARY KEY, name); INSERT INTO user VALUES (1, 'Ann')");
const db = drizzle({ client });
const prepared = db.select().from(user).where(eq(user.id, sql.placeholder("id"))).prepare();

const reads = {
  prepared: () => prepared.get({ id: 1 }),
  built: () => db.select().from(user).where(eq(user.id, 1)).get(),
};

/** Returns the least time of several rounds, which other programs disturb the least. */
function timeOf(read: () => unknown) {
  const times = Array.from({ length: 9 }, () => {
    const before = process.cpuUsage();
    for (let n = 0; n < 3000; n++) read();
    return process.cpuUsage(before).user;
  });
  return Math.min(...times);
}
console.log(`more than five times: ${timeOf(reads.built) > 5 * timeOf(reads.prepared)}`);
PROGRAM

expect bun program.ts <<'SEEN'
bun 1.4.5
drizzle-orm 0.45.4
more than five times: true
SEEN
