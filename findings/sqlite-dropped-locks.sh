#!/usr/bin/env bash
# A process that opens a SQLite file as a mere file and closes it, to look at its header, loses all locks
# that its own connections have on it. Another process can then write in the middle of a transaction.
# Bun 1.4.5 (SQLite 3.54.1) on Linux; https://sqlite.org/howtocorrupt.html#_posix_advisory_locks.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5

cat >program.ts <<'PROGRAM'
import { Database } from "bun:sqlite";
import { readFileSync } from "node:fs";

const db = new Database("users.db");
db.run("CREATE TABLE user (name)");

/** Whether another process can write. */
function canOthersWrite() {
  const write = `new (require("bun:sqlite").Database)("users.db").run("INSERT INTO user VALUES (1)")`;
  return Bun.spawnSync([process.execPath, "-e", write]).success;
}
db.run("BEGIN IMMEDIATE");
console.log(`in a transaction, others can write: ${canOthersWrite()}`);
readFileSync("users.db");
console.log(`after the file was read, others can write: ${canOthersWrite()}`);
PROGRAM

expect bun program.ts <<'SEEN'
bun 1.4.5
in a transaction, others can write: false
after the file was read, others can write: true
SEEN
