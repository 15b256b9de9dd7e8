/**
 * Owns the figures of the limit: what a decision costs, what a client costs, how long anybody waits.
 * Each beside something plain run in the same call.
 */
import { demoSnapshot } from "../../src/assets.ts";
import { createLimiter, type Limiter } from "../../src/limit/limiter.ts";
import { openSharedLimiter } from "../../src/limit/redis.ts";
import { createRoadbook, type Roadbook } from "../../src/roadbook.ts";
import { hasRedisServer, openRedisServer } from "../../test/limit/redis-server.ts";
import { alternate, compare, notInstalled, type Row, timed } from "./measure.ts";

const LIMIT = 30;
const WINDOW_MS = 3_600_000;
const MANY = 100_000;
const OPTIONS = { limit: LIMIT, windowMs: WINDOW_MS, maxClients: MANY };
const ROUNDS = 5;
const LONG_ROUNDS = 3;
const DECISIONS = 500_000;
const PINGS = 10_000;
const SEARCHES = 1200;

/** A stride through that many that is prime to it: every client in turn, neighbours far apart. */
const STRIDE = 61_153;

/** `bun run bench limit` */
export async function* benchLimit(): AsyncGenerator<Row> {
  // First, while the process is small: what later parts leave behind blurs memory and pauses.
  yield memory();
  yield* longest();
  for (const clients of [1, 1000, MANY]) yield await decisions(clients);
  const redis = hasRedisServer() ? await openRedisServer() : undefined;
  if (redis) yield await overRedis(redis.url);
  else yield notInstalled("a decision over Redis", "a bare PING", "redis-server");
  yield* searchShares(redis?.url);
  await redis?.close();
}

interface Sides {
  ours: number[];
  theirs: number[];
  headline?: boolean;
}

const cost = (name: string, beside: string, unit: string, sides: Sides) =>
  compare({ name, beside, unit, as: "cost", ...sides });

/** What all clients at their limit hold, beside the bare numbers. */
function memory(): Row {
  const collect = () => {
    Bun.gc(true);
    return process.memoryUsage.rss() / 1e6;
  };
  // Whatever the code and its garbage need anyway is there before.
  const other = createLimiter({ ...OPTIONS, maxClients: 100, clock: () => 0 });
  for (let i = 0; i < 2 * MANY; i++) other.consume(formatIp(i));
  const before = collect();
  let requests = 0;
  const limiter = createLimiter({ ...OPTIONS, clock: () => requests });
  for (; requests < LIMIT; requests++) {
    for (let i = 0; i < MANY; i++) {
      limiter.consume(formatIp(i));
      // Often, so that garbage is not taken for what is held.
      if (i % 10_000 === 0) collect();
    }
  }
  const held = collect() - before;
  // Asked after that, so that the limiter is still there.
  const name = `${formatCount(limiter.status().clients)} clients at their limit`;
  return cost(name, "their timestamps, 8 bytes each", "MB", {
    ours: [held],
    theirs: [(MANY * LIMIT * 8) / 1e6],
  });
}

/** Whatever may take long in one decision: growth, clients that leave, addresses that rotate. */
function* longest(): Generator<Row> {
  const ips = Array.from({ length: 7 * MANY }, (_, i) => formatIp(i));
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
  let nowMs = 0;
  const limiters = Array.from({ length: LONG_ROUNDS }, () =>
    createLimiter({ ...OPTIONS, clock: () => nowMs }),
  );
  for (const [name, count, clientAt, nowMsAt] of parts) {
    const [ours, theirs]: [number[], number[]] = [[], []];
    for (const limiter of limiters) {
      let [longestMs, idleMs] = [0, 0];
      for (let i = 0; i < count; i++) {
        const ip = ips[clientAt(i)] as string;
        nowMs = nowMsAt(i);
        const before = performance.now();
        const between = performance.now();
        limiter.consume(ip);
        longestMs = Math.max(longestMs, performance.now() - between);
        idleMs = Math.max(idleMs, between - before);
      }
      ours.push(longestMs);
      theirs.push(idleMs);
    }
    const about = `longest decision while ${formatCount(MANY)} clients ${name}`;
    yield cost(about, `the longest of ${formatCount(count)} times nothing`, "ms", { ours, theirs });
  }
}

/**
 * Nanoseconds each. Each client slides at its limit, so every decision drops a timestamp and adds one:
 * those cost most.
 */
async function decisions(clients: number): Promise<Row> {
  const ips = Array.from({ length: clients }, (_, i) => formatIp(i));
  const ipOf = (i: number) => ips[(i * STRIDE) % clients] as string;
  let nowMs = 0;
  const limiter = createLimiter({ ...OPTIONS, clock: () => nowMs });
  const counts = new Map<string, number>();
  const stepMs = WINDOW_MS / (LIMIT * clients);
  const consume = (i: number) => {
    nowMs += stepMs;
    limiter.consume(ipOf(i));
  };
  const count = (i: number) => counts.set(ipOf(i), (counts.get(ipOf(i)) ?? 0) + 1);
  for (let i = 0; i < LIMIT * clients; i++) consume(i);
  let i = 0;
  const runs: Record<string, (i: number) => unknown> = { consume, count };
  const results = await alternate(ROUNDS, runs, async (run) => {
    const ms = await timed(() => {
      for (const end = i + DECISIONS; i < end; i++) run(i);
    });
    return (ms * 1e6) / DECISIONS;
  });
  return cost(`a decision, ${formatCount(clients)} clients`, "a count in a Map", "ns", {
    ours: results("consume"),
    theirs: results("count"),
    headline: clients === MANY,
  });
}

/** Twenty at a time. */
async function overRedis(url: string): Promise<Row> {
  const client = new Bun.RedisClient(url);
  const limiter = await openShared(url, LIMIT);
  await client.connect();
  const runs: Record<string, (i: number) => unknown> = {
    consume: (i) => limiter.consume(`198.51.100.${i & 255}`),
    ping: () => client.ping(),
  };
  const results = await alternate(ROUNDS, runs, async (run) => {
    const ms = await timed(async () => {
      for (let i = 0; i < PINGS; i += 20) {
        await Promise.all(Array.from({ length: 20 }, (_, j) => run(i + j)));
      }
    });
    return (ms * 1e3) / PINGS;
  });
  limiter.close();
  client.close();
  const [ours, theirs] = [results("consume"), results("ping")];
  return cost("a decision over Redis", "a bare PING", "µs", { ours, theirs });
}

function openShared(url: string, limit: number): Promise<Limiter> {
  return openSharedLimiter({
    url,
    limit,
    windowMs: WINDOW_MS,
    onDown() {},
    onUp() {},
    onWarning() {},
  });
}

/** What the limit adds to a search request: the same requests with it and without. */
async function* searchShares(redisUrl: string | undefined): AsyncGenerator<Row> {
  const snapshot = await demoSnapshot();
  const limit = 1_000_000;
  const limiters: Record<string, Limiter> = {
    "in memory": createLimiter({ limit, windowMs: WINDOW_MS }),
    ...(redisUrl && { "over Redis": await openShared(redisUrl, limit) }),
  };
  const free = await createRoadbook({ snapshot, searchLimit: 0 });
  for (const [name, limiter] of Object.entries(limiters)) {
    const limited = await createRoadbook({ snapshot, searchLimit: limit, limiter });
    // The first in a process takes longer than any later.
    for (const roadbook of [limited, free]) await searchMicroseconds(roadbook);
    const results = await alternate(ROUNDS, { limited, free }, searchMicroseconds);
    yield cost(`a search request, limit ${name}`, "the same without a limit", "µs", {
      ours: results("limited"),
      theirs: results("free"),
      headline: true,
    });
    limited.close();
    limiter.close();
  }
  free.close();
}

let searches = 0;
const QUERIES = ["an", "nowak", "er in", "express", "zzz", "mü"];

/** Each under a URL that was not asked before, so that none is answered from what is kept. */
async function searchMicroseconds({ fetch }: Roadbook): Promise<number> {
  const ms = await timed(async () => {
    for (let i = 0; i < SEARCHES; i++) {
      const q = encodeURIComponent(QUERIES[i % QUERIES.length] ?? "");
      const url = `http://localhost/search/users?q=${q}&n=${searches++}`;
      await fetch(new Request(url), formatIp(i));
    }
  });
  return (ms * 1e3) / SEARCHES;
}

/** From bytes, as addresses come from a socket: a template's text takes 50 bytes more. */
function formatIp(i: number): string {
  return Buffer.from(`${11 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}.7`).toString("latin1");
}

const formatCount = (count: number) => count.toLocaleString("en");
