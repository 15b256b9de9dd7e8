#!/usr/bin/env bash
# The message of Bun's `fetch` has the URL with its query for some errors, such as a body that is no
# gzip, and not for others. So a log of messages may get the signature of a presigned URL.
# Bun 1.4.5.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5

cat >program.ts <<'PROGRAM'
const headers = { "content-encoding": "gzip" };
const server = Bun.serve({ port: 0, fetch: () => new Response("plain", { headers }) });
const urls = { "closed port": "http://127.0.0.1:1/", "no gzip": server.url };
for (const [name, url] of Object.entries(urls)) {
  const signed = `${url}snapshot?X-Amz-Signature=sesame`;
  const error = await fetch(signed).then((response) => response.text()).catch((error) => error);
  console.log(`${name}: ${error.message.includes("sesame") ? "with" : "without"} the signature`);
}
await server.stop(true);
PROGRAM

expect bash -c 'bun program.ts 2>messages' <<'SEEN'
bun 1.4.5
closed port: without the signature
no gzip: with the signature
SEEN
