#!/usr/bin/env bash
# Bun opens SQLite in "defensive" mode. So `journal_mode = OFF` is ignored without an error, and FTS5's
# own tables cannot be written. Only its node:sqlite can turn that off.
# Bun 1.4.5; https://sqlite.org/c3ref/c_dbconfig_defensive.html says what the mode does.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5

cat >program.ts <<'PROGRAM'
import { Database } from "bun:sqlite";
import { DatabaseSync } from "node:sqlite";

const databases = {
  "bun:sqlite": new Database("bun.db"),
  "node:sqlite": new DatabaseSync("node.db"),
  "node:sqlite, not defensive": new DatabaseSync("other.db", { defensive: false }),
};
for (const [name, db] of Object.entries(databases)) {
  db.exec("PRAGMA journal_mode = OFF; CREATE VIRTUAL TABLE names USING fts5(name)");
  const { journal_mode } = db.prepare("PRAGMA journal_mode").get() as { journal_mode: string };
  let isWritable = true;
  try {
    db.exec("UPDATE names_config SET v = v");
  } catch {
    isWritable = false;
  }
  console.log(`${name}: the journal is ${journal_mode}, FTS5 is ${isWritable ? "" : "not "}writable`);
}
PROGRAM

expect bun program.ts <<'SEEN'
bun 1.4.5
bun:sqlite: the journal is delete, FTS5 is not writable
node:sqlite: the journal is delete, FTS5 is not writable
node:sqlite, not defensive: the journal is off, FTS5 is writable
SEEN
