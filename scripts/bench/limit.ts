/**
 * Owns the figures of the limit: what a decision costs, what a client costs, how long anybody
 * waits. Each is set against something plain run in the same call, so that figures from different
 * machines compare. Judges nothing.
 */

import { demoSnapshot } from "../../src/assets.ts";
import { createClients } from "../../src/limit/client-address.ts";
import { createLimiter, DEFAULT_MAX_CLIENTS, type Limiter } from "../../src/limit/limiter.ts";
import { openSharedLimiter } from "../../src/limit/redis.ts";
import { createWindow } from "../../src/limit/window.ts";
import { createRoadbook, type Roadbook } from "../../src/roadbook.ts";
import { hasRedisServer, openRedisServer } from "../../test/limit/redis-server.ts";

const LIMIT = 30;
const WINDOW_MS = 3_600_000;
const DECISIONS = 2_000_000;
const OPTIONS = { limit: LIMIT, windowMs: WINDOW_MS, maxClients: DEFAULT_MAX_CLIENTS };
const MANY = DEFAULT_MAX_CLIENTS;
const PAUSE_MS = 5;

/** A stride through that many that is prime to it: every client in turn, neighbours far apart. */
const STRIDE = 61_153;

export async function benchLimit(): Promise<void> {
  // First, while the process is small: what later parts leave behind blurs memory and pauses.
  benchMemory();
  benchLongest();
  for (const clients of [1, 1000, MANY]) benchDecisions(clients);
  benchClientKey();
  if (hasRedisServer()) await benchRedis();
  else console.log("limit  redis: no redis-server on the PATH");
  await benchShare();
}

/** What the limit adds to a search request: the same requests with and without it, turn about. */
async function benchShare(): Promise<void> {
  const snapshot = await demoSnapshot();
  const server = hasRedisServer() ? await openRedisServer() : undefined;
  const limit = 1_000_000;
  const limiters: Record<string, Limiter | undefined> = {
    "in memory": createLimiter({ limit, windowMs: WINDOW_MS }),
    "over Redis":
      server && (await openSharedLimiter({ url: server.url, limit, windowMs: WINDOW_MS })),
  };
  const free = await createRoadbook({ snapshot, searchLimit: 0 });
  for (const [name, limiter] of Object.entries(limiters)) {
    if (!limiter) continue;
    const limited = await createRoadbook({ snapshot, searchLimit: limit, limiter });
    const shares: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const [without, with_] = [await searchesMs(free), await searchesMs(limited)];
      shares.push((with_ - without) / with_);
    }
    const median = shares.sort((one, other) => one - other)[ROUNDS >> 1] ?? 0;
    console.log(`limit  share of a search request, ${name}: ${(median * 100).toFixed(0)} %`);
    limited.close();
    limiter.close();
  }
  free.close();
  await server?.close();
}

const ROUNDS = 9;
let searches = 0;
const QUERIES = ["an", "nowak", "er in", "express", "zzz", "mü"];

/** Each under a URL that was not asked before, so that none is answered from what is kept. */
async function searchesMs({ fetch }: Roadbook): Promise<number> {
  const before = performance.now();
  for (let i = 0; i < 1200; i++) {
    const q = encodeURIComponent(QUERIES[i % QUERIES.length] ?? "");
    const url = `http://localhost/search/users?q=${q}&n=${searches++}`;
    await fetch(new Request(url), formatIp(i));
  }
  return performance.now() - before;
}

function benchMemory(): void {
  const collect = () => {
    Bun.gc(true);
    return process.memoryUsage.rss();
  };
  // Whatever the code and its garbage need anyway is there before.
  const other = createWindow({ ...OPTIONS, maxClients: 100 });
  for (let i = 0; i < 2 * MANY; i++) other.consume(formatIp(i), 0);
  const before = collect();
  const window = createWindow(OPTIONS);
  let requests = 0;
  for (const until of [1, 2, LIMIT]) {
    for (; requests < until; requests++) {
      for (let i = 0; i < MANY; i++) {
        window.consume(formatIp(i), requests);
        // Often, so that garbage is not taken for what is held.
        if (i % 10_000 === 0) collect();
      }
    }
    console.log(
      `limit  ${formatCount(window.size)} clients, ${requests} requests each:`,
      `${((collect() - before) / 1e6).toFixed(1)} MB`,
    );
  }
}

/** Whatever may take long in one decision: growth, clients that leave, addresses that rotate. */
function benchLongest(): void {
  const ips = Array.from({ length: 7 * MANY }, (_, i) => formatIp(i));
  const window = createWindow(OPTIONS);
  const parts: [string, number, (i: number) => number, (i: number) => number][] = [
    ["come", MANY, (i) => i, () => 0],
    ["leave at once while others come", MANY, (i) => MANY + i, () => WINDOW_MS],
    ["are there and addresses rotate", 5 * MANY, (i) => 2 * MANY + i, () => WINDOW_MS],
    [
      "slide at their limit",
      LIMIT * MANY,
      (i) => (i * STRIDE) % MANY,
      (i) => 2 * WINDOW_MS + (i * WINDOW_MS) / (LIMIT * MANY),
    ],
  ];
  for (const [name, decisions, clientAt, nowMsAt] of parts) {
    let [longestMs, idleMs, long, longIdle] = [0, 0, 0, 0];
    for (let i = 0; i < decisions; i++) {
      const ip = ips[clientAt(i)] as string;
      const nowMs = nowMsAt(i);
      const before = performance.now();
      const between = performance.now();
      window.consume(ip, nowMs);
      const tookMs = performance.now() - between;
      longestMs = Math.max(longestMs, tookMs);
      idleMs = Math.max(idleMs, between - before);
      if (tookMs > PAUSE_MS) long++;
      if (between - before > PAUSE_MS) longIdle++;
    }
    console.log(
      `limit  longest decision while ${formatCount(MANY)} clients ${name}: ${longestMs.toFixed(2)} ms,`,
      `${long} of ${formatCount(decisions)} over ${PAUSE_MS} ms`,
      `(of as many empty ones ${idleMs.toFixed(2)} ms, ${longIdle})`,
    );
  }
}

/** Each client slides at its limit, so every decision drops a timestamp and adds one: those cost most. */
function benchDecisions(clients: number): void {
  const ips = Array.from({ length: clients }, (_, i) => formatIp(i));
  const ipOf = (i: number) => ips[(i * STRIDE) % clients] as string;
  const window = createWindow(OPTIONS);
  const counts = new Map<string, number>();
  const stepMs = WINDOW_MS / (LIMIT * clients);
  let nowMs = 0;
  const consume = (i: number) => {
    nowMs += stepMs;
    window.consume(ipOf(i), nowMs);
  };
  const count = (i: number) => counts.set(ipOf(i), (counts.get(ipOf(i)) ?? 0) + 1);
  for (let i = 0; i < LIMIT * clients; i++) consume(i);
  for (let i = 0; i < clients; i++) count(i);
  const consumeNs = nsEach(DECISIONS, consume);
  const countNs = nsEach(DECISIONS, count);
  console.log(
    `limit  ${formatCount(clients)} clients: ${perSecond(consumeNs)} decisions/s,`,
    `${consumeNs.toFixed(0)} ns each, ${(consumeNs / countNs).toFixed(1)} × a bare Map's count`,
  );
}

function benchClientKey(): void {
  const { keyOf: direct } = createClients({ trusted: [], ipv6Prefix: 64 });
  const { keyOf: proxied } = createClients({ trusted: ["10.0.0.0/8"], ipv6Prefix: 64 });
  const cases: [string, (i: number) => string][] = [
    ["IPv4 peer", (i) => direct(`203.0.113.${i & 255}`, null)],
    ["IPv6 peer, cached", (i) => direct(`2001:db8::${i & 255}`, null)],
    ["proxied, cached", (i) => proxied("10.0.0.1", `203.0.113.${i & 255}, 10.0.0.2`)],
    ["proxied, never seen", (i) => proxied("10.0.0.1", `2001:db8::${i >> 16}:${i & 65535}`)],
  ];
  for (const [name, keyOf] of cases) {
    console.log(`limit  client key, ${name}: ${nsEach(300_000, keyOf).toFixed(0)} ns`);
  }
}

async function benchRedis(): Promise<void> {
  const server = await openRedisServer();
  const client = new Bun.RedisClient(server.url);
  const limiter = await openSharedLimiter({
    url: server.url,
    limit: LIMIT,
    windowMs: WINDOW_MS,
    onDown: (reason) => console.log(`limit  redis: down: ${reason}`),
  });
  const each = async (run: (i: number) => unknown): Promise<number> => {
    const before = performance.now();
    for (let i = 0; i < 20_000; i += 20) {
      await Promise.all(Array.from({ length: 20 }, (_, j) => run(i + j)));
    }
    return ((performance.now() - before) * 1e6) / 20_000;
  };
  await client.connect();
  await each(() => client.ping());
  const consumeNs = await each((i) => limiter.consume(`198.51.100.${i & 255}`));
  const pingNs = await each(() => client.ping());
  console.log(
    `limit  redis, 20 at a time: ${perSecond(consumeNs)} decisions/s,`,
    `${(consumeNs / pingNs).toFixed(1)} × a bare PING`,
  );
  limiter.close();
  client.close();
  await server.close();
}

/** From bytes, as addresses come from a socket: a template's text takes 50 bytes more. */
function formatIp(i: number): string {
  return Buffer.from(`${11 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}.7`).toString("latin1");
}

function formatCount(count: number): string {
  return count.toLocaleString("en");
}

function nsEach(times: number, run: (i: number) => unknown): number {
  for (let i = 0; i < times / 10; i++) run(i);
  const before = performance.now();
  for (let i = 0; i < times; i++) run(i);
  return ((performance.now() - before) * 1e6) / times;
}

function perSecond(ns: number): string {
  return formatCount(Math.round(1e9 / ns));
}

if (import.meta.main) await benchLimit();
