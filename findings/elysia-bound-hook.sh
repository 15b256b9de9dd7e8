#!/usr/bin/env bash
# The result of a bound function (`check.bind(this)`) as `beforeHandle` is ignored, and the handler
# runs. Elysia looks for a `return` in the text of the function, which a bound one does not show.
# Elysia 1.4.30 on Bun 1.4.5; the source is dist/compose.js (`hasReturn`).
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5 elysia@1.4.30

cat >program.ts <<'PROGRAM'
import { Elysia } from "elysia";

const limiter = {
  status: 429,
  refuse() {
    return new Response("too many", { status: this.status });
  },
};
const app = new Elysia()
  .get("/arrow", "found", { beforeHandle: () => limiter.refuse() })
  .get("/bound", "found", { beforeHandle: limiter.refuse.bind(limiter) });
for (const path of ["/arrow", "/bound"]) {
  console.log(path, (await app.fetch(new Request(`http://localhost${path}`))).status);
}
PROGRAM

expect bun program.ts <<'SEEN'
bun 1.4.5
elysia 1.4.30
/arrow 429
/bound 200
SEEN
