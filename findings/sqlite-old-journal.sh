#!/usr/bin/env bash
# The journal of a killed writer is applied to whatever file has the database's name later: a new
# database that was renamed over it turns back into the old one, without an error.
# Bun 1.4.5 (SQLite 3.54.1); https://sqlite.org/howtocorrupt.html warns of this.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5

cat >write.ts <<'PROGRAM'
import { Database } from "bun:sqlite";

const [file = "", table, end] = process.argv.slice(2);
const db = new Database(file);
// Little room for changes in memory, so that an open transaction writes to the file.
db.run("PRAGMA cache_size = 5");
db.run(`BEGIN; CREATE TABLE IF NOT EXISTS ${table} (text)`);
for (let n = 0; n < 2000; n++) db.run(`INSERT INTO ${table} VALUES (?)`, ["x".repeat(100)]);
if (end === "killed") process.kill(process.pid, "SIGKILL");
db.run("COMMIT");
db.close(true);
PROGRAM
cat >list.ts <<'PROGRAM'
import { Database } from "bun:sqlite";

const db = new Database(process.argv[2]);
console.log(process.argv[2], db.prepare("SELECT name FROM sqlite_schema").values().join());
PROGRAM
bun write.ts live.db old_table
{ bun write.ts live.db old_table killed || true; } 2>messages
bun write.ts new.db new_table

expect bash -c 'bun list.ts new.db && mv new.db live.db && bun list.ts live.db' <<'SEEN'
bun 1.4.5
new.db new_table
live.db old_table
SEEN
