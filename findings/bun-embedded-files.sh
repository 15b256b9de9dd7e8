#!/usr/bin/env bash
# In a compiled program, looking at `Bun.embeddedFiles` counts every embedded file as memory in use,
# though none is read, so a garbage collection comes sooner. Reading one by its path does not.
# Bun 1.4.5.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5

head -c 20000000 /dev/zero >large.bin
echo text >small.bin
cat >program.ts <<'PROGRAM'
import { heapStats } from "bun:jsc";
import { readFileSync } from "node:fs";
import "./large.bin" with { type: "file" };
import small from "./small.bin" with { type: "file" };

function countMegabytes() {
  Bun.gc(true);
  return Math.round(heapStats().extraMemorySize / 1e6);
}

readFileSync(small);
console.log(`after reading a small file by its path: ${countMegabytes()} MB`);
const { length } = Bun.embeddedFiles;
console.log(`after looking at the list of ${length} files: ${countMegabytes()} MB`);
PROGRAM
bun build --compile program.ts --outfile program >build.log

expect ./program <<'SEEN'
bun 1.4.5
after reading a small file by its path: 0 MB
after looking at the list of 2 files: 20 MB
SEEN
