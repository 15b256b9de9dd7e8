#!/usr/bin/env bash
# The first use of `process.stdout` takes several milliseconds, many times as long as the first
# `console.log`, because it loads Bun's streams.
# Bun 1.4.5.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5

# Each program prints to standard error how long its first output took.
cat >start.ts <<'PROGRAM'
const start = performance.now();
if (process.argv[2] === "stdout") process.stdout.write("\n");
else console.log();
console.error(performance.now() - start);
PROGRAM
cat >compare.ts <<'PROGRAM'
/** Returns the least time of several starts, which other programs disturb the least. */
function timeOf(output: string) {
  const times = Array.from({ length: 9 }, () => {
    return Number(Bun.spawnSync([process.execPath, "start.ts", output]).stderr.toString());
  });
  return Math.min(...times);
}
console.log(`more than ten times: ${timeOf("stdout") > 10 * timeOf("console")}`);
PROGRAM

expect bun compare.ts <<'SEEN'
bun 1.4.5
more than ten times: true
SEEN
