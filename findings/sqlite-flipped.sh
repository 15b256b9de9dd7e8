#!/usr/bin/env bash
# Neither `quick_check` nor `integrity_check` notices a changed letter in a row, nor that a file has no
# bytes at all: both are "ok".
# Bun 1.4.5 (SQLite 3.54.1); https://sqlite.org/pragma.html#pragma_integrity_check.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5

cat >program.ts <<'PROGRAM'
import { Database } from "bun:sqlite";
import { readFileSync, writeFileSync } from "node:fs";

const db = new Database("users.db");
db.run("CREATE TABLE user (name TEXT); INSERT INTO user VALUES ('Anna Nowak')");
db.close(true);
const bytes = readFileSync("users.db");
bytes.write("H", bytes.indexOf("Anna"));
writeFileSync("users.db", bytes);
writeFileSync("empty.db", "");

for (const file of ["users.db", "empty.db"]) {
  const db = new Database(file, { readonly: true });
  for (const check of ["quick_check", "integrity_check"]) {
    console.log(file, check, ...Object.values(db.prepare(`PRAGMA ${check}`).get() as object));
  }
}
console.log("the name is", ...new Database("users.db").prepare("SELECT name FROM user").values());
PROGRAM

expect bun program.ts <<'SEEN'
bun 1.4.5
users.db quick_check ok
users.db integrity_check ok
empty.db quick_check ok
empty.db integrity_check ok
the name is [ "Hnna Nowak" ]
SEEN
