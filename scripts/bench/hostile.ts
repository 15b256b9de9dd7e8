/**
 * Measures what hostile clients cost:
 * - how long another client waits while one address sends as much as it can,
 * - the memory for clients that never finish their request or never read their response,
 * - the time for a very long request. Each input that a client can make long is filled with the
 *   slowest content known for it.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { longDataset, makeSeeded, makeSnapshot } from "../../test/datasets.ts";
import { converse, dial, holdUnread, lastRequest } from "../../test/sockets.ts";
import { makeCertificate, megabytesOf, openExecutable, type Target } from "../../test/support.ts";
import { attacks, open, PROFILE } from "./attacker.ts";
import { alternate, format, median, type Options, quantile, tableOf } from "./measure.ts";

const SIZES = [1_000, 5_000, 15_000];
const TRIES = 11;

const SEARCH = "/search/users?q=";
/** Each function returns the path, and sometimes a header, of a request of about `length` bytes. */
const longRequests: Record<string, (length: number) => [path: string, header?: string]> = {
  "q: marks out of order": (length) => [`${SEARCH}a${fill("%CC%81%CC%96", length)}`],
  "q: marks in opposite order": (length) => [
    `${SEARCH}a${fill("%CD%85", length / 2)}${fill("%CC%96", length / 2)}`,
  ],
  "q: marks that folding keeps": (length) => [`${SEARCH}a${fill("%D6%B0%D6%91", length)}`],
  "q: jamo": (length) => [SEARCH + fill("%E1%84%80", length)],
  "q: white space": (length) => [`${SEARCH}${fill("+%20", length)}anna`],
  "q: white space of two bytes": (length) => [`${SEARCH}${fill("+%C2%A0", length)}anna`],
  "q: words of one letter": (length) => [SEARCH + fill("a+", length)],
  "query: empty pairs": (length) => [`/search/users?${fill("&", length)}q=anna`],
  "keys that are not UTF-8": (length) => [`/search/users?${fill("%&", length)}q=anna`],
  "path: percent signs": (length) => [PROFILE + fill("%25", length)],
  "X-Forwarded-For: commas": (length) => [`${SEARCH}anna`, `X-Forwarded-For: ${fill(",", length)}`],
  "X-Forwarded-For: trusted addresses": (length) => [
    `${SEARCH}anna`,
    `X-Forwarded-For: ${fill("127.0.0.1,", length)}`,
  ],
  "Accept-Encoding: commas": (length) => [PROFILE, `Accept-Encoding: ${fill(",", length)}`],
  "Accept-Encoding: codings": (length) => [PROFILE, `Accept-Encoding: ${fill("a;q=1,", length)}`],
  "If-None-Match: tags": (length) => [PROFILE, `If-None-Match: ${fill('"a",', length)}`],
  "If-None-Match: quotes": (length) => [PROFILE, `If-None-Match: ${fill('"', length)}`],
  "X-Request-Id": (length) => [PROFILE, `X-Request-Id: ${fill("a", length)}`],
};

function fill(piece: string, length: number): string {
  return piece.repeat(Math.floor(length / piece.length));
}

/** Returns the milliseconds from sending the last byte of the request until the response starts. */
async function measure(server: Target, request: string): Promise<number> {
  const socket = await dial(server);
  socket.setNoDelay(true);
  // The server receives all but the last two bytes before the clock starts.
  socket.write(request.slice(0, -2));
  await Bun.sleep(20);
  const response = once(socket, "data");
  const sentMs = performance.now();
  socket.write(request.slice(-2));
  await response;
  const ms = performance.now() - sentMs;
  socket.destroy();
  return ms;
}

export async function benchHostile({ isQuick }: Options): Promise<void> {
  await (isQuick ? benchOthers(1, 1000) : benchOthers(RUNS, 200_000));
  await benchMemory(isQuick ? 10 : 1);
  await benchLongRequests(isQuick ? 1 : TRIES);
}

const ATTACK_MS = 1500;
/** How long an attack runs before the other client begins. Its start is measured, too. */
const WARM_UP_MS = 200;
const RUNS = 5;

/** The server's own part shows what other load on the machine adds. */
const columns: [title: string, "connected" | "server" | "connecting", share: number][] = [
  ["p50:", "connected", 0.5],
  ["p99:", "connected", 0.99],
  ["max:", "connected", 1],
  ["max of the server's processor time:", "server", 1],
  ["max with a new connection:", "connecting", 1],
];

/** Prints how long a client waits for a profile while another one attacks: medians of the runs. */
async function benchOthers(runs: number, users: number): Promise<void> {
  const { snapshot } = await makeSeeded(users);
  const flags = ["--search-limit", "0", "--allow-indexing", "--snapshot", snapshot];
  // The handshakes of this kind of key cost the least.
  const { cert, key } = await makeCertificate(
    "DNS:a.example",
    "ec -pkeyopt ec_paramgen_curve:P-256",
  );
  const tls = ["--tls-cert", cert, "--tls-key", key];
  const names = Object.fromEntries(Object.keys(attacks).map((name) => [name, name]));
  const waitsOf = await alternate(runs, names, async (name) => {
    const server = await openExecutable([...flags, ...(name.includes("TLS") ? tls : [])]);
    const waits = await measureOther(server, name);
    await server.close();
    return waits;
  });
  const rows = Object.keys(attacks).map((name) => [
    name,
    ...columns.map(([, kind, share]) =>
      format(median(waitsOf(name).map((waits) => quantile(waits[kind], share)))),
    ),
  ]);
  const head = columns.map(([title]) => title);
  console.log(tableOf([`attack; wait of another client, ms`, ...head], rows));
  console.log();
}

/** Returns how long a client waits on an open connection, and on a new one, in milliseconds. */
async function measureOther({ origin, pid }: Target & { pid: number }, attack: string) {
  const stat = `/proc/${pid}/task/${pid}/schedstat`;
  const serverMs = () => Number.parseInt(readFileSync(stat, "utf8"), 10) / 1e6;
  const request = `GET ${PROFILE} HTTP/1.1\r\nHost: a.example\r\n\r\n`;
  const ask = async (socket: Socket) => {
    const sentMs = performance.now();
    socket.write(request);
    await once(socket, "data");
    return performance.now() - sentMs;
  };
  const socket = open(origin, "127.0.0.1").on("error", () => {});
  await ask(socket);
  // The attacker has a process of its own, so that it does not delay this client.
  const attacker = Bun.spawn(
    [process.execPath, join(import.meta.dir, "attacker.ts"), origin, attack],
    { stdout: "ignore" },
  );
  await Bun.sleep(WARM_UP_MS);
  const waits = { connected: [] as number[], server: [] as number[], connecting: [] as number[] };
  const endMs = performance.now() + ATTACK_MS;
  while (performance.now() < endMs) {
    const beforeMs = serverMs();
    waits.connected.push(await ask(socket));
    waits.server.push(serverMs() - beforeMs);
    const other = open(origin, "127.0.0.1").on("error", () => {});
    waits.connecting.push(await ask(other));
    other.destroy();
    await Bun.sleep(5);
  }
  attacker.kill();
  await attacker.exited;
  socket.destroy();
  return waits;
}

async function benchLongRequests(tries: number): Promise<void> {
  const server = await openExecutable("--search-limit 0 --trusted-proxy 127.0.0.0/8".split(" "));
  const rows: string[][] = [];
  for (const [name, create] of Object.entries(longRequests)) {
    const row = [name];
    for (const size of SIZES) {
      const [path, header = "X: y"] = create(size);
      const request = `GET ${path} HTTP/1.1\r\nHost: a.example\r\n${header}\r\n\r\n`;
      await measure(server, request); // warm-up
      const times: number[] = [];
      while (times.length < tries) times.push(await measure(server, request));
      row.push(`${median(times).toFixed(1)} / ${Math.max(...times).toFixed(1)}`);
    }
    rows.push(row);
  }
  const sizes = SIZES.map((size) => `${size / 1000} KB:`);
  console.log(tableOf([`ms, median / maximum of ${tries}`, ...sizes], rows));
  await server.close();
}

type PathOf = (index: number) => string;

const held: [what: string, count: number, pathOf: PathOf, coding?: string, end?: string][] = [
  ["unfinished heads of 15 KB", 3000, () => PROFILE, "identity", `X: ${"x".repeat(15_000)}`],
  ["unread bodies: the largest asset", 800, () => "/docs/scalar.js"],
  ["unread bodies: the largest asset, encoded", 800, () => "/docs/scalar.js", "gzip"],
  ["unread bodies: the OpenAPI document", 800, () => "/docs/json"],
  ["unread bodies: one longest list of achievements", 800, () => "/users/1/achievements"],
  ["unread bodies: different longest lists", 800, (at) => `/users/${at + 1}/achievements`],
  ["unread bodies: the page of one driver", 800, () => "/drivers/1"],
  ["unread bodies: the pages of different drivers", 800, (at) => `/drivers/${at + 1}`],
  ["unread body: a page of the sitemap", 1, () => "/sitemaps/0.xml"],
];

/** Prints how much memory the server needs for connections that never make progress. */
async function benchMemory(divisor: number): Promise<void> {
  const snapshot = await makeSnapshot(longDataset(800));
  const { snapshot: large } = await makeSeeded(20_000);
  const flags = ["--search-limit", "0", "--allow-indexing"];
  const rows: string[][] = [];
  for (const [what, count, pathOf, coding = "identity", end = "\r\n"] of held) {
    const served = pathOf(0).startsWith("/sitemaps/") ? large : snapshot;
    const server = await openExecutable(["--snapshot", served, ...flags]);
    const headOf = (index: number) =>
      `GET ${pathOf(index)} HTTP/1.1\r\nHost: a.example\r\nAccept: text/html\r\nAccept-Encoding: ${coding}\r\n${end}`;
    if (count > 1) await converse(server, headOf(0) + lastRequest);
    const before = megabytesOf(server.pid, "VmRSS");
    const sockets = await holdUnread(server, Math.ceil(count / divisor), headOf);
    await converse(server, lastRequest);
    const growths = (["VmRSS", "VmHWM"] as const).map(
      (key) => megabytesOf(server.pid, key) - before,
    );
    rows.push([`${format(count)} ${what}`, ...growths.map((growth) => growth.toFixed(0))]);
    for (const socket of sockets) socket.destroy();
    await server.close();
  }
  console.log(`${tableOf(["connections", "MB added:", "MB added at the peak:"], rows)}\n`);
}
