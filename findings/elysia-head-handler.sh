#!/usr/bin/env bash
# A handler for HEAD is ignored if its route has a parameter: GET's handler runs instead.
# Elysia 1.4.30 on Bun 1.4.5; the source is dist/compose.js (`if(r.method==="HEAD")`).
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5 elysia@1.4.30

cat >program.ts <<'PROGRAM'
import { Elysia } from "elysia";

const say = (handler: string) => new Response(null, { headers: { handler } });
const app = new Elysia();
for (const path of ["/drivers", "/drivers/:id"]) {
  app.get(path, () => say("GET"));
  app.head(path, () => say("HEAD"));
}
for (const path of ["/drivers", "/drivers/42"]) {
  const response = await app.fetch(new Request(`http://localhost${path}`, { method: "HEAD" }));
  console.log(`HEAD ${path} runs the handler for ${response.headers.get("handler")}`);
}
PROGRAM

expect bun program.ts <<'SEEN'
bun 1.4.5
elysia 1.4.30
HEAD /drivers runs the handler for HEAD
HEAD /drivers/42 runs the handler for GET
SEEN
