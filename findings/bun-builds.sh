#!/usr/bin/env bash
# Bun's build for Linux runs on a processor without AVX, so there is no "baseline" any more. Its build
# for musl needs a libstdc++, which Alpine does not have until it is installed.
# Bun 1.4.5, qemu-user and binutils of Debian 12.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
debian_packages qemu-user binutils
npm_packages @oven/bun-linux-x64@1.4.5 @oven/bun-linux-x64-musl@1.4.5

run() {
  echo 'on a processor of 2008:'
  qemu-x86_64 -cpu Nehalem node_modules/@oven/bun-linux-x64/bin/bun --version
  echo 'for musl, needs:'
  readelf -d node_modules/@oven/bun-linux-x64-musl/bin/bun | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
}

expect run <<'SEEN'
qemu-user 7.2+dfsg
binutils 2.40
@oven/bun-linux-x64 1.4.5
@oven/bun-linux-x64-musl 1.4.5
on a processor of 2008:
1.4.5
for musl, needs:
libstdc++.so.6
libc.musl-x86_64.so.1
SEEN
