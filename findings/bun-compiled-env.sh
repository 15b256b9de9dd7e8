#!/usr/bin/env bash
# A program compiled by Bun reads `.env` and runs the `preload` of `bunfig.toml` in the folder where
# it is started, unless it was built with --no-compile-autoload-dotenv and --no-compile-autoload-bunfig.
# Bun 1.4.5; documented at https://bun.com/docs/bundler/executables.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5

echo 'console.log("the port is", process.env.PORT ?? 3000);' >program.ts
bun build --compile program.ts --outfile default >build.log
without=(--no-compile-autoload-dotenv --no-compile-autoload-bunfig)
bun build --compile "${without[@]}" program.ts --outfile without >build.log

mkdir elsewhere
echo 'PORT=4000' >elsewhere/.env
echo 'preload = ["./preloaded.ts"]' >elsewhere/bunfig.toml
echo 'console.log("another program runs");' >elsewhere/preloaded.ts

expect bash -c 'cd elsewhere; for name in default without; do echo "$name:"; ../$name; done' <<'SEEN'
bun 1.4.5
default:
another program runs
the port is 4000
without:
the port is 3000
SEEN
