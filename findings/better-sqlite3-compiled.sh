#!/usr/bin/env bash
# A program that Bun compiles with better-sqlite3 finds the native part by its path on the machine that
# built it. It runs there and nowhere else, and the build does not say so.
# better-sqlite3 13.2.0, Bun 1.4.5; the source is lib/binding.js.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5 better-sqlite3@13.2.0

cat >program.ts <<'PROGRAM'
import Database from "better-sqlite3";

try {
  new Database(":memory:");
  console.log("runs");
} catch (error) {
  const [line] = String(error).split("\n");
  console.log(line?.replace(/'.*node_modules/, "'…/node_modules"));
}
PROGRAM
bun build --compile program.ts --outfile program >build.log

elsewhere() {
  (cd / && "$work/program")
  mv node_modules moved
  (cd / && "$work/program")
}
expect elsewhere <<'SEEN'
bun 1.4.5
better-sqlite3 13.2.0
runs
ResolveMessage: Cannot find module '…/node_modules/better-sqlite3/build/Release/better_sqlite3.node'
SEEN
