#!/usr/bin/env bash
# `secure_delete` overwrites the rows that are deleted, but not the copies that SQLite left in the unused
# space of pages when it moved these rows earlier. Deleted names can still be in the file.
# Bun 1.4.5 (SQLite 3.54.1); https://sqlite.org/fileformat.html says where a page has unused space.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5

cat >program.ts <<'PROGRAM'
import { Database } from "bun:sqlite";
import { readFileSync } from "node:fs";

const db = new Database("users.db");
db.run("PRAGMA secure_delete = ON");
db.run("CREATE TABLE user (id INTEGER PRIMARY KEY, name TEXT)");
const insert = db.prepare("INSERT INTO user VALUES (?, ?)");
const users = 3001;
const nameOf = (id: number) => `<${id}>`.padEnd(20 + ((id * 31) % 200), "x");
db.transaction(() => {
  // In no order, and of different lengths, so that pages are split and rows are moved.
  for (let n = 0; n < users; n++) insert.run((n * 1009) % users, nameOf((n * 1009) % users));
})();
const deleted = Array.from({ length: 1500 }, (_, n) => 2 * n);
db.run("DELETE FROM user WHERE id % 2 = 0 AND id < 3000");

const countIn = (file: string) => {
  const bytes = readFileSync(file).toString("latin1");
  return deleted.filter((id) => bytes.includes(`<${id}>`)).length > 0 ? "some" : "none";
};
console.log(`deleted names in the file: ${countIn("users.db")}`);
db.run("VACUUM INTO 'vacuumed.db'");
console.log(`deleted names after VACUUM: ${countIn("vacuumed.db")}`);
PROGRAM

expect bun program.ts <<'SEEN'
bun 1.4.5
deleted names in the file: some
deleted names after VACUUM: none
SEEN
