/**
 * `bun test/storm.ts ORIGIN CLIENTS` runs clients that open a new connection for each request. It
 * prints a line once 500 responses have arrived. When the server has stopped, it prints how many
 * requests got no response, counting only connections opened before SIGUSR1.
 */
import { connect } from "node:net";

const RESPONSES_UNDER_WAY = 500;

const [origin = "", clients = "1"] = process.argv.slice(2);
const { hostname, port } = new URL(origin);
const request = "GET /docs/json HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n";
let isSignalled = false;
let responses = 0;
let lost = 0;

process.on("SIGUSR1", () => {
  isSignalled = true;
});

/** Sends a request. Returns whether the server accepted the connection. */
function send(): Promise<boolean> {
  return new Promise((resolve) => {
    let isOpen = false;
    let wasOpenBefore = false;
    let received = 0;
    const socket = connect(Number(port), hostname, () => {
      isOpen = true;
      wasOpenBefore = !isSignalled;
      socket.write(request);
    });
    socket.on("data", (chunk) => {
      received += chunk.length;
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      if (received > 0) responses++;
      else if (wasOpenBefore) lost++;
      if (responses === RESPONSES_UNDER_WAY) console.log("under way");
      resolve(isOpen);
    });
  });
}

async function client(): Promise<void> {
  while (await send());
}

await Promise.all(Array.from({ length: Number(clients) }, client));
console.log(JSON.stringify({ responses, lost }));
