#!/usr/bin/env bash
# A status that `resolve` or `transform` returns is sent without `mapResponse`, so it lacks all
# headers made there. One that `beforeHandle` returns, or that any of them throws, passes through it.
# Elysia 1.4.30 on Bun 1.4.5; the source is dist/compose.js.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5 elysia@1.4.30

cat >program.ts <<'PROGRAM'
import { Elysia, status } from "elysia";

const refuse = () => status(418, "no");
const refuseByThrowing = () => {
  throw status(418, "no");
};
const app = new Elysia()
  .onError(({ error }) => error)
  .mapResponse(() => new Response(null, { headers: { "x-mapped": "yes" } }))
  .get("/beforeHandle", "found", { beforeHandle: refuse })
  .get("/transform", "found", { transform: refuse })
  .get("/transform that throws", "found", { transform: refuseByThrowing })
  .guard({}, (guarded) => guarded.resolve(refuse).get("/resolve", "found"))
  .guard({}, (guarded) => guarded.resolve(refuseByThrowing).get("/resolve that throws", "found"));
for (const path of app.routes.map((route) => route.path)) {
  const { headers } = await app.fetch(new Request(`http://localhost${encodeURI(path)}`));
  console.log(path, headers.has("x-mapped") ? "is mapped" : "is not mapped");
}
PROGRAM

expect bun program.ts <<'SEEN'
bun 1.4.5
elysia 1.4.30
/beforeHandle is mapped
/transform is not mapped
/transform that throws is mapped
/resolve is not mapped
/resolve that throws is mapped
SEEN
