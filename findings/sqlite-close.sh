#!/usr/bin/env bash
# `close()` of bun:sqlite leaves the file open, and a prepared statement goes on answering, until the
# statement is collected. `close(true)` closes at once.
# Bun 1.4.5; https://sqlite.org/c3ref/close.html (sqlite3_close_v2).
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5

cat >program.ts <<'PROGRAM'
import { Database } from "bun:sqlite";
import { readdirSync, readlinkSync } from "node:fs";

const linkOf = (fd: string) => {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return "";
  }
};
for (const atOnce of [false, true]) {
  const file = `names-${atOnce}.db`;
  const db = new Database(file);
  db.run("CREATE TABLE name (text); INSERT INTO name VALUES ('Ann')");
  const statement = db.prepare("SELECT text FROM name");
  db.close(atOnce);
  const isOpen = readdirSync("/proc/self/fd").some((fd) => linkOf(fd).endsWith(file));
  let row: unknown = "an error";
  try {
    row = JSON.stringify(statement.get());
  } catch {}
  console.log(`close(${atOnce}): the file is ${isOpen ? "open" : "closed"}, a statement gives ${row}`);
}
PROGRAM

expect bun program.ts <<'SEEN'
bun 1.4.5
close(false): the file is open, a statement gives {"text":"Ann"}
close(true): the file is closed, a statement gives an error
SEEN
