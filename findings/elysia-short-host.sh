#!/usr/bin/env bash
# Elysia looks for the path of a URL from its eleventh character on, so no route is found for a host
# of up to three letters.
# Elysia 1.4.30 on Bun 1.4.5; the source is dist/adapter/web-standard (`indexOf('/', 11)`).
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5 elysia@1.4.30

cat >program.ts <<'PROGRAM'
import { Elysia } from "elysia";

const app = new Elysia().get("/health", "ok");
for (const host of ["x", "api", "site", "localhost"]) {
  const { status } = await app.fetch(new Request(`http://${host}/health`));
  console.log(host, status);
}
PROGRAM

expect bun program.ts <<'SEEN'
bun 1.4.5
elysia 1.4.30
x 404
api 404
site 200
localhost 200
SEEN
