#!/usr/bin/env bash
# `t.Integer()` for a path parameter accepts whatever JavaScript's Number() takes for an integer, so
# one record has many URLs, and a long id is another number.
# Elysia 1.4.30 on Bun 1.4.5; the source is dist/type-system.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5 elysia@1.4.30

cat >program.ts <<'PROGRAM'
import { Elysia, t } from "elysia";

const params = t.Object({ id: t.Integer() });
const app = new Elysia().get("/drivers/:id", ({ params }) => params.id, { params });
for (const id of ["42", "042", "+42", "%2042", "42.0", "4.2e1", "0x2a", "9007199254740993", "x"]) {
  const response = await app.fetch(new Request(`http://localhost/drivers/${id}`));
  console.log(`/drivers/${id}`, response.ok ? `is ${await response.text()}` : response.status);
}
PROGRAM

expect bun program.ts <<'SEEN'
bun 1.4.5
elysia 1.4.30
/drivers/42 is 42
/drivers/042 is 42
/drivers/+42 is 42
/drivers/%2042 is 42
/drivers/42.0 is 42
/drivers/4.2e1 is 42
/drivers/0x2a is 42
/drivers/9007199254740993 is 9007199254740992
/drivers/x 422
SEEN
