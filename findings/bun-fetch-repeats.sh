#!/usr/bin/env bash
# Bun's `fetch` sends a GET again, without a word, if a kept connection closes before the response,
# although the server may have handled the first one. A POST is an error then.
# Bun 1.4.5; https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2 permits it.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5

cat >program.ts <<'PROGRAM'
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

for (const method of ["GET", "POST"]) {
  let requests = 0;
  // Responds to the first request of each connection, and closes it at the second.
  const server = createServer((socket) => {
    let isFirst = true;
    socket.on("data", () => {
      requests++;
      if (isFirst) socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      else socket.destroy();
      isFirst = false;
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await (await fetch(url)).text();
  requests = 0;
  const result = await fetch(url, { method }).then(
    ({ status }) => status,
    ({ code }) => code,
  );
  console.log(`${method}: ${requests} request(s), ${result}`);
  server.close();
}
process.exit();
PROGRAM

expect bun program.ts <<'SEEN'
bun 1.4.5
GET: 2 request(s), 200
POST: 1 request(s), ECONNRESET
SEEN
