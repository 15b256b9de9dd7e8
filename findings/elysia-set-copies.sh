#!/usr/bin/env bash
# A handler that sets one header through `set` makes Elysia copy the Response that it returns.
# Otherwise the caller gets the handler's own Response.
# Elysia 1.4.30 on Bun 1.4.5; the source is dist/adapter/utils.js.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5 elysia@1.4.30

cat >program.ts <<'PROGRAM'
import { Elysia } from "elysia";

const mine = new Response("a body");
const app = new Elysia()
  .get("/plain", () => mine)
  .get("/set", ({ set }) => {
    set.headers["x-request-id"] = "1";
    return mine;
  });
for (const path of ["/plain", "/set"]) {
  const response = await app.fetch(new Request(`http://localhost${path}`));
  console.log(path, response === mine ? "the same Response" : "another Response");
}
PROGRAM

expect bun program.ts <<'SEEN'
bun 1.4.5
elysia 1.4.30
/plain the same Response
/set another Response
SEEN
