#!/usr/bin/env bash
# A command of Bun's Redis client waits while the client connects 21 times, for half a minute, before it
# fails. With `autoReconnect: false`, it fails with the first connection.
# Bun 1.4.5; https://bun.com/docs/runtime/redis (`maxRetries`).
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5

cat >program.ts <<'PROGRAM'
import { RedisClient } from "bun";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

for (const options of [{}, { autoReconnect: false }]) {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.destroy();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = new RedisClient(`redis://127.0.0.1:${port}`, options);
  const { message } = await client.get("key").then(() => ({ message: "succeeds" }), (error) => error);
  console.log(`${JSON.stringify(options)}: ${connections} connection(s), ${message}`);
  client.close();
  server.close();
}
process.exit();
PROGRAM

expect bun program.ts <<'SEEN'
bun 1.4.5
{}: 21 connection(s), Max reconnection attempts reached
{"autoReconnect":false}: 1 connection(s), Connection closed
SEEN
