#!/usr/bin/env bash
# Importing node:crypto, node:zlib, node:net or node:tty also loads Node's streams, though a hash, a
# checksum or the question whether this is a terminal needs none. That takes milliseconds of each start.
# Bun 1.4.5.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5

# Prints how many functions `node:stream` adds after another module has been imported.
cat >after.ts <<'PROGRAM'
import { heapStats } from "bun:jsc";

const countFunctions = () => heapStats().objectTypeCounts.FunctionExecutable ?? 0;
await import(process.argv[2]);
const before = countFunctions();
await import("node:stream");
console.log(countFunctions() - before);
PROGRAM
cat >compare.ts <<'PROGRAM'
const countAfter = (module: string) =>
  Number(Bun.spawnSync([process.execPath, "after.ts", module]).stdout.toString());
const all = countAfter("node:path");
for (const module of ["node:fs", "node:crypto", "node:zlib", "node:net", "node:tty"]) {
  const hasStreams = countAfter(module) < all / 3;
  console.log(`${module} has ${hasStreams ? "loaded" : "not loaded"} them`);
}
PROGRAM

expect bun compare.ts <<'SEEN'
bun 1.4.5
node:fs has not loaded them
node:crypto has loaded them
node:zlib has loaded them
node:net has loaded them
node:tty has loaded them
SEEN
