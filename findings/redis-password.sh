#!/usr/bin/env bash
# With a wrong password, `connect()` of Bun's Redis client only says that the connection was closed. The
# reason is in the error of a command that was sent before the connection was open.
# Bun 1.4.5, redis-server of Debian 12.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
debian_packages redis-server
npm_packages bun@1.4.5

port=$(free_port)
redis-server --port "$port" --bind 127.0.0.1 --save '' --requirepass sesame >redis.log &
wait_for "$port"
cat >program.ts <<'PROGRAM'
import { RedisClient } from "bun";

const url = `redis://:wrong@127.0.0.1:${process.argv[2]}`;
const first = {
  connect: (client: RedisClient) => client.connect(),
  get: (client: RedisClient) => client.get("key"),
};
for (const [name, run] of Object.entries(first)) {
  const client = new RedisClient(url, { autoReconnect: false });
  const { message } = await run(client).then(() => ({ message: "succeeds" }), (error) => error);
  console.log(`${name}: ${message}`);
  client.close();
}
PROGRAM

expect bun program.ts "$port" <<'SEEN'
redis-server 7.0.15
bun 1.4.5
connect: Connection closed
get: WRONGPASS invalid username-password pair or user is disabled.
SEEN
