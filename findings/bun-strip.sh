#!/usr/bin/env bash
# A program compiled by Bun that goes through `strip`, as packages of Debian do, is Bun itself
# afterwards: the program behind Bun's own code is gone, and nothing fails.
# Bun 1.4.5, binutils of Debian 12.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
debian_packages binutils
npm_packages bun@1.4.5

echo 'console.log("the program");' >program.ts
bun build --compile program.ts --outfile program >build.log

expect bash -c './program --version && strip program && ./program --version' <<'SEEN'
binutils 2.40
bun 1.4.5
the program
1.4.5
SEEN
