#!/usr/bin/env bash
# A cache with a large `max` takes memory for all its entries when it is made: over 100 MB for ten
# million. With `maxSize` and a size of 1 per entry, only those that are there take memory.
# lru-cache 11.5.3; the source is dist/esm/index.js (`UintArray`).
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages lru-cache@11.5.3

cat >program.mjs <<'PROGRAM'
import { LRUCache } from "lru-cache";

const entries = 10_000_000;
const options = {
  max: { max: entries },
  maxSize: { maxSize: entries, sizeCalculation: () => 1 },
};
for (const name of Object.keys(options)) {
  const before = process.memoryUsage().rss;
  const cache = new LRUCache(options[name]);
  const takes = process.memoryUsage().rss - before;
  console.log(`${name}: an empty cache takes over 100 MB: ${takes > 1e8 && cache.size === 0}`);
}
PROGRAM

expect node program.mjs <<'SEEN'
lru-cache 11.5.3
max: an empty cache takes over 100 MB: true
maxSize: an empty cache takes over 100 MB: false
SEEN
