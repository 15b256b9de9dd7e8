#!/usr/bin/env bash
# Each query of a SQLite file outside a transaction makes eight system calls, to lock the file and to see
# whether it has changed, even if all of it is in memory. With `immutable=1`, none.
# Bun 1.4.5, strace of Debian 12; https://sqlite.org/uri.html#uriimmutable.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
debian_packages strace
npm_packages bun@1.4.5

cat >program.ts <<'PROGRAM'
import { constants, Database } from "bun:sqlite";

const [uri = "", queries] = process.argv.slice(2);
const db = new Database(uri, constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI);
const statement = db.prepare("SELECT name FROM user WHERE id = 1");
for (let n = 0; n < Number(queries); n++) statement.get();
PROGRAM
bun -e 'const db = new (require("bun:sqlite").Database)("users.db");
  db.run("CREATE TABLE user (id INTEGER PRIMARY KEY, name); INSERT INTO user VALUES (1, \"Ann\")");'

# Prints how many system calls about files a query makes, from a run with 1001 and one with 1.
count() {
  local queries
  for queries in 1 1001; do
    strace -f -e trace=fcntl,pread64,/stat,access -o "trace-$queries" bun program.ts "$1" "$queries"
  done
  echo "$1: $((($(wc -l <trace-1001) - $(wc -l <trace-1) + 500) / 1000))"
}
count_both() {
  count 'file:users.db'
  count 'file:users.db?immutable=1'
}

expect count_both <<'SEEN'
strace 6.1
bun 1.4.5
file:users.db: 8
file:users.db?immutable=1: 0
SEEN
