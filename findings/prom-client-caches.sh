#!/usr/bin/env bash
# A histogram's `observe` takes many times as long once the processor's caches have been used for other
# things, as between two requests, than in a loop, where it is usually measured. Most of that is
# prom-client's own: writing a number to an array loses little.
# prom-client 15.1.3 on Bun 1.4.5.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5 prom-client@15.1.3

cat >program.ts <<'PROGRAM'
import { Histogram } from "prom-client";

const labels = { route: "/health", status: "200" };
const histogram = new Histogram({ name: "seconds", help: "Times", labelNames: Object.keys(labels) });
const child = histogram.labels(labels);
const list = new Float64Array(1000);
const others = new Uint8Array(2 ** 26);

/** Returns the median time of a call, after the caches have been filled with other things, or not. */
function timeOf(call: (n: number) => void, isCold: boolean) {
  const times: number[] = [];
  for (let n = 0; n < 300; n++) {
    if (isCold) for (let at = 0; at < others.length; at += 64) others[at]++;
    const start = Bun.nanoseconds();
    call(n);
    times.push(Bun.nanoseconds() - start);
  }
  return times.sort((a, b) => a - b)[150] ?? 0;
}
const observe = () => child.observe(0.004);
const note = (n: number) => {
  list[n] = 0.004;
};
for (let n = 0; n < 100_000; n++) observe();
const loop = timeOf(observe, false);
const between = timeOf(observe, true) - timeOf(note, true);
console.log(`at least five times as long: ${between > 5 * loop}`);
PROGRAM

expect bun program.ts <<'SEEN'
bun 1.4.5
prom-client 15.1.3
at least five times as long: true
SEEN
