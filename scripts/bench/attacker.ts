/**
 * `bun scripts/bench/attacker.ts ORIGIN ATTACK` sends requests as fast as one address can, until it
 * is killed. bench/hostile.ts measures another client meanwhile.
 */
import { connect } from "node:net";

export const PROFILE = "/users/public/42";

const pipeline = (path: string, times: number) => () => send(requestFor(path).repeat(times), 1);
const keepAlive = (path: string) => () => send(requestFor(path), Number.POSITIVE_INFINITY);
const reconnect = (path: string) => () => send(requestFor(path, "Connection: close\r\n"), 1);

/** How many connections an attack keeps open, and what each of them sends. */
export const attacks: Record<string, [connections: number, attack: () => void]> = {
  "1 connection pipelines 3,000 lists of achievements": [
    1,
    pipeline("/users/42/achievements", 3000),
  ],
  "4 connections pipeline 5,000 OpenAPI documents": [4, pipeline("/docs/json", 5000)],
  "100 connections pipeline 500 OpenAPI documents": [100, pipeline("/docs/json", 500)],
  "1,000 connections request the OpenAPI document": [1000, keepAlive("/docs/json")],
  "200 connections request a profile": [200, keepAlive(PROFILE)],
  "200 connections request the page of a driver": [200, keepAlive("/drivers/46")],
  "200 clients open a connection per profile": [200, reconnect(PROFILE)],
};

const [origin = "", name = ""] = process.argv.slice(2);
const { hostname = "", port = "" } = URL.parse(origin) ?? {};
const [connections = 0, attack = () => {}] = attacks[name] ?? [];
for (let opened = 0; opened < connections; opened++) attack();

function requestFor(path: string, header = ""): string {
  return `GET ${path} HTTP/1.1\r\nHost: a.example\r\n${header}\r\n`;
}

/** Sends `text` on a connection `times` times, one after the other, then on a new connection. */
function send(text: string, times: number): void {
  let left = times;
  let missing = 0;
  const socket = connect(Number(port), hostname);
  const write = () => {
    left--;
    socket.write(text);
  };
  socket.on("connect", write);
  socket.on("data", (chunk) => {
    // Only with keep-alive does it matter where a response ends.
    if (times === 1) return;
    if (missing <= 0) missing = lengthOf(chunk.toString("latin1"));
    missing -= chunk.length;
    if (missing <= 0 && left > 0) write();
  });
  socket.on("error", () => {});
  socket.on("close", () => setTimeout(send, 1, text, times));
}

/** The length of the response that begins with `text`, which must contain the whole head. */
function lengthOf(text: string): number {
  const [, length] = /content-length: (\d+)/i.exec(text) ?? [];
  return text.indexOf("\r\n\r\n") + 4 + Number(length);
}
