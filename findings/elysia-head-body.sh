#!/usr/bin/env bash
# For a HEAD request, Elysia reads the whole body that GET's handler returns, to learn its length.
# Elysia 1.4.30 on Bun 1.4.5; the source is dist/compose.js (`getResponseLength`).
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5 elysia@1.4.30

cat >program.ts <<'PROGRAM'
import { Elysia } from "elysia";

let chunks = 0;
function body() {
  return new ReadableStream({
    pull(stream) {
      if (chunks === 500) return stream.close();
      chunks++;
      stream.enqueue(new Uint8Array(1000));
    },
  });
}
const app = new Elysia().get("/export/:id", () => new Response(body()));
const request = new Request("http://localhost/export/1", { method: "HEAD" });
const { headers } = await app.fetch(request);
console.log(`${chunks} chunks were read; content-length is ${headers.get("content-length")}`);
PROGRAM

expect bun program.ts <<'SEEN'
bun 1.4.5
elysia 1.4.30
500 chunks were read; content-length is 500000
SEEN
