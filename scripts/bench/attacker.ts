/**
 * `bun scripts/bench/attacker.ts ORIGIN ATTACK` sends requests as fast as one customer can, until it
 * is killed. bench/hostile.ts measures another client meanwhile.
 */
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

export const PROFILE = "/users/public/42";
const DRAWING = "/avatars/N.svg";
const RESULTS = "/?q=anna";
const DEAR = "/search/users?q=DEAR";

/** The dearest of their kinds that `bench adversary` has found. */
const dearQueries = [
  "αν tr те ак re mi ир",
  "to ик ru ri ια",
  "бе uc ва ni",
  "janjanjan",
  "сансансан",
];

/** The address of the attacker, which the servers of the bench trust as a proxy. */
export const ATTACKER = "127.0.0.2";

interface Attack {
  connections: number;
  /** The path of each request. N stands for a number that differs each time, DEAR for a query. */
  path: string;
  /** What a connection does: send so many requests at once, or one after another, or just leave. */
  does: number | "repeat" | "leave";
  /** A further header line. N stands for the number of the connection. */
  header?: string;
}

const repeat = (connections: number, path: string, header = ""): Attack => {
  return { connections, path, header, does: "repeat" };
};
const pipeline = (connections: number, path: string, times: number): Attack => {
  return { connections, path, does: times };
};
const leave = (connections: number, path: string): Attack => {
  return { connections, path, does: "leave" };
};

/** All connections belong to one IPv6 /48 behind a proxy, each to another /64. */
const network = (connections: number, path: string) =>
  repeat(connections, path, "X-Forwarded-For: 2001:db8:1:N::1\r\n");

const reconnect: Attack = {
  connections: 200,
  path: PROFILE,
  does: 1,
  header: "Connection: close\r\n",
};

export const attacks: Record<string, Attack> = {
  none: repeat(0, "/"),
  "none, over TLS": repeat(0, "/"),
  "1 connection requests a profile": repeat(1, PROFILE),
  "100 connections pipeline 500 OpenAPI documents": pipeline(100, "/docs/json", 500),
  "50 connections pipeline 1,000 pages of results": pipeline(50, RESULTS, 1000),
  "50 connections pipeline 5,000 profiles": pipeline(50, PROFILE, 5000),
  "1,000 connections request the OpenAPI document": repeat(1000, "/docs/json"),
  "200 connections request a profile": repeat(200, PROFILE),
  "200 connections request the page of a driver": repeat(200, "/drivers/46"),
  "200 connections request a page of results": repeat(200, RESULTS),
  "30 connections send dear searches": repeat(30, DEAR),
  "30 clients of a /48 send dear searches": network(30, DEAR),
  "1,000 connections request the sitemap": repeat(1000, "/sitemap.xml"),
  "1,000 connections request drawings": repeat(1000, DRAWING),
  "3,000 clients of a /48 request drawings": network(3000, DRAWING),
  "3,000 clients of a /48 request a page of results": network(3000, RESULTS),
  "3,000 clients of a /48 request a profile": network(3000, PROFILE),
  "200 clients open a connection per profile": reconnect,
  "200 clients request a page of results and leave": leave(200, RESULTS),
  "200 clients request all achievements and leave": leave(200, "/drivers/42?achievements=all"),
  "200 clients request the sitemap and leave": leave(200, "/sitemap.xml"),
  "300 clients connect over TLS and leave": leave(300, PROFILE),
};
for (const name of ["Accept", "Accept-Encoding", "Accept-Language", "If-None-Match", "Cookie"]) {
  const header = `${name}: ${'"a";q=1,'.repeat(1800)}\r\n`;
  attacks[`200 connections send a giant ${name}`] = repeat(200, "/drivers/46", header);
}

const [origin = "", name = ""] = process.argv.slice(2);
const attack = attacks[name];
for (let at = 0; attack && at < attack.connections; at++) send(attack, at);

/** `from` is the client's own address. */
export function open(origin: string, from: string): Socket {
  const { protocol, hostname: host, port } = new URL(origin);
  const socket = connect({ host, port: Number(port), localAddress: from });
  return protocol === "https:" ? connectTls({ socket, rejectUnauthorized: false }) : socket;
}

/** Opens a connection that does what the attack says, and another one whenever it is closed. */
function send(attack: Attack, at: number): void {
  const { path, does } = attack;
  const header = attack.header?.replace("N", at.toString(16)) ?? "";
  const socket = open(origin, ATTACKER);
  const write = () => {
    const text = requestFor(path, header).repeat(typeof does === "number" ? does : 1);
    socket.write(text, () => does === "leave" && socket.destroy());
  };
  socket.on(origin.startsWith("https:") ? "secureConnect" : "connect", write);

  let missing = 0;
  socket.on("data", (chunk) => {
    // Otherwise, it does not matter where a response ends.
    if (does !== "repeat") return;
    if (missing <= 0) missing = lengthOf(chunk.toString("latin1"));
    missing -= chunk.length;
    if (missing <= 0) write();
  });
  socket.on("error", () => {});
  socket.on("close", () => setTimeout(send, 1, attack, at));
}

let requests = 0;

function requestFor(path: string, header: string): string {
  requests++;
  const query = encodeURIComponent(dearQueries[requests % dearQueries.length] ?? "");
  const target = path.replace("N", `${requests}`).replace("DEAR", query);
  return `GET ${target} HTTP/1.1\r\nHost: a.example\r\n${header}\r\n`;
}

/** The length of the response that begins with `text`, which must contain the whole head. */
function lengthOf(text: string): number {
  const [, length] = /content-length: (\d+)/i.exec(text) ?? [];
  return text.indexOf("\r\n\r\n") + 4 + Number(length);
}
