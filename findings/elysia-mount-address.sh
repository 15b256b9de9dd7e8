#!/usr/bin/env bash
# An app that is mounted in another one does not learn the client's address, though one that is used
# does. So a rate limit by address counts nobody, or everybody together.
# Elysia 1.4.30 on Bun 1.4.5; the source is dist/index.js (`mount`).
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5 elysia@1.4.30

cat >program.ts <<'PROGRAM'
import { Elysia } from "elysia";

const inner = new Elysia().get("/address", ({ server, request }) => {
  return server?.requestIP(request)?.address ?? "unknown";
});
const outer = new Elysia()
  .mount("/mounted", inner.fetch)
  .group("/used", (app) => app.use(inner))
  .listen({ hostname: "127.0.0.1", port: 0 });
for (const path of ["mounted", "used"]) {
  const response = await fetch(`http://127.0.0.1:${outer.server?.port}/${path}/address`);
  console.log(path, await response.text());
}
await outer.stop();
PROGRAM

expect bun program.ts <<'SEEN'
bun 1.4.5
elysia 1.4.30
mounted unknown
used 127.0.0.1
SEEN
