/**
 * `bun scripts/bench/attacker.ts ORIGIN ATTACK` sends requests as fast as one address can, until it
 * is killed. bench/hostile.ts measures another client meanwhile.
 */
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

export const PROFILE = "/users/public/42";

const pipeline = (path: string, times: number) => () => send(requestFor(path).repeat(times), 1);
const keepAlive = (path: string, header?: string) => () =>
  send(requestFor(path, header), Number.POSITIVE_INFINITY);
const reconnect = (path: string) => () => send(requestFor(path, "Connection: close\r\n"), 1);
const leave = (path: string) => () => send(requestFor(path), 0);

/** How many connections an attack keeps open, and what each of them does. */
export const attacks: Record<string, [connections: number, attack: () => void]> = {
  none: [0, () => {}],
  "none, over TLS": [0, () => {}],
  "1 connection requests a profile": [1, keepAlive(PROFILE)],
  "100 connections pipeline 500 OpenAPI documents": [100, pipeline("/docs/json", 500)],
  "50 connections pipeline 1,000 pages of results": [50, pipeline("/?q=anna", 1000)],
  "50 connections pipeline 5,000 profiles": [50, pipeline(PROFILE, 5000)],
  "1,000 connections request the OpenAPI document": [1000, keepAlive("/docs/json")],
  "200 connections request a profile": [200, keepAlive(PROFILE)],
  "200 connections request the page of a driver": [200, keepAlive("/drivers/46")],
  "200 connections request a page of results": [200, keepAlive("/?q=anna")],
  "200 clients open a connection per profile": [200, reconnect(PROFILE)],
  "200 clients request a page of results and leave": [200, leave("/?q=anna")],
  "200 clients request all achievements and leave": [200, leave("/drivers/42?achievements=all")],
  "200 clients request a sitemap and leave": [200, leave("/sitemaps/0.xml")],
  "300 clients connect over TLS and leave": [300, leave(PROFILE)],
};
for (const name of ["Accept", "Accept-Encoding", "Accept-Language", "If-None-Match", "Cookie"]) {
  const header = `${name}: ${'"a";q=1,'.repeat(1800)}\r\n`;
  attacks[`200 connections send a giant ${name}`] = [200, keepAlive("/drivers/46", header)];
}

const [origin = "", name = ""] = process.argv.slice(2);
const [connections = 0, attack = () => {}] = attacks[name] ?? [];
for (let opened = 0; opened < connections; opened++) attack();

/** `from` is the client's own address. */
export function open(origin: string, from: string): Socket {
  const { protocol, hostname: host, port } = new URL(origin);
  const socket = connect({ host, port: Number(port), localAddress: from });
  return protocol === "https:" ? connectTls({ socket, rejectUnauthorized: false }) : socket;
}

function requestFor(path: string, header = ""): string {
  return `GET ${path} HTTP/1.1\r\nHost: a.example\r\n${header}\r\n`;
}

/**
 * Sends `text` on a connection `times` times, one after the other, then on a new connection. With
 * zero times, sends it once and closes the connection at once.
 */
function send(text: string, times: number): void {
  let left = times;
  let missing = 0;
  const socket = open(origin, "127.0.0.2");
  const write = () => {
    left--;
    socket.write(text, () => times === 0 && socket.destroy());
  };
  socket.on(origin.startsWith("https:") ? "secureConnect" : "connect", write);
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
