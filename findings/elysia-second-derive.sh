#!/usr/bin/env bash
# A route gets the `derive` and `onBeforeHandle` hooks that were declared before it. But if there was
# one of the same kind already, a later one is added to the same list, so the route gets it, too.
# Elysia 1.4.30 on Bun 1.4.5.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5 elysia@1.4.30

cat >program.ts <<'PROGRAM'
import { Elysia } from "elysia";

const route = (context: object) => ("late" in context ? "has the later value" : "has no value");
const apps = {
  "only a later derive": new Elysia().get("/", route).derive(() => ({ late: 1 })),
  "a second, later derive": new Elysia()
    .derive(() => ({ early: 1 }))
    .get("/", route)
    .derive(() => ({ late: 1 })),
  "only a later onBeforeHandle": new Elysia().get("/", "is served").onBeforeHandle(() => "is refused"),
  "a second, later onBeforeHandle": new Elysia()
    .onBeforeHandle(() => undefined)
    .get("/", "is served")
    .onBeforeHandle(() => "is refused"),
};
for (const [name, app] of Object.entries(apps)) {
  const response = await app.fetch(new Request("http://localhost/"));
  console.log(`${name}: the route ${await response.text()}`);
}
PROGRAM

expect bun program.ts <<'SEEN'
bun 1.4.5
elysia 1.4.30
only a later derive: the route has no value
a second, later derive: the route has the later value
only a later onBeforeHandle: the route is served
a second, later onBeforeHandle: the route is refused
SEEN
