#!/usr/bin/env bash
# `mapResponse` sees a status that a handler returns as it is, unless the route has a schema for its
# responses: then it sees the body alone, and the status is in `set`.
# Elysia 1.4.30 on Bun 1.4.5; the source is dist/compose.js.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5 elysia@1.4.30

cat >program.ts <<'PROGRAM'
import { Elysia, status, t } from "elysia";

const missing = () => status(404, { gone: true });
const response = { 404: t.Object({ gone: t.Boolean() }) };
const app = new Elysia()
  .mapResponse(({ responseValue, set }) => {
    return new Response(`${JSON.stringify(responseValue)}, set.status ${set.status}`);
  })
  .get("/without-schema", missing)
  .get("/with-schema", missing, { response });
for (const { path } of app.routes) {
  console.log(path, await (await app.fetch(new Request(`http://localhost${path}`))).text());
}
PROGRAM

expect bun program.ts <<'SEEN'
bun 1.4.5
elysia 1.4.30
/without-schema {"code":404,"response":{"gone":true}}, set.status 200
/with-schema {"gone":true}, set.status 404
SEEN
