/** The in-memory limiter is exact and bounded, as src/limit/README.md says. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { LimitedClient } from "../../src/limit/client-table.ts";
import type { Decision, LimiterOptions } from "../../src/limit/limiter.ts";
import { createMemoryLimiter } from "../../src/limit/limiter.ts";
import { runs } from "../runs.ts";
import { until } from "../support.ts";

type WindowOptions = Omit<LimiterOptions, "clock">;

/** A client `a:1` is one of the network `a`, and any other is a network of its own, as with IPv4. */
const clientOf = (client: string): LimitedClient => ({
  key: client,
  network: client.split(":")[0] ?? "",
});

/** Returns a function that decides at a given time, and the number of tracked clients. */
function createWindow(options: WindowOptions) {
  let nowMs = 0;
  const limiter = createMemoryLimiter({ ...options, clock: () => nowMs });
  const decide = (client: string, atMs: number, isPeek = false): Decision => {
    nowMs = atMs;
    return isPeek ? limiter.peek(clientOf(client)) : limiter.consume(clientOf(client));
  };
  return { decide, size: () => limiter.status().clients };
}

/** A simple reference limiter: a list of clients with their times, least recently seen first. */
function createNaiveWindow({ limit, windowMs, maxClients }: WindowOptions) {
  let clients: (LimitedClient & { times: number[] })[] = [];
  let now = Number.NEGATIVE_INFINITY;
  /** The one that was last seen or made smaller at the end. */
  let networks: string[] = [];
  const touch = (network: string) => {
    networks = [...networks.filter((name) => name !== network), network];
  };
  const listOf = (network: string) => clients.filter((each) => each.network === network);

  function makeRoom(network: string): number[] {
    const isFull = listOf(network).length === Math.max(1, Math.floor(maxClients / 16));
    if (!isFull && clients.length < maxClients) return [];
    const most = Math.max(...networks.map((name) => listOf(name).length));
    const largest = networks.find((name) => listOf(name).length === most);
    const loser = isFull ? network : (largest ?? expect.unreachable());
    const [first] = listOf(loser);
    clients = clients.filter((each) => each !== first);
    touch(loser);
    return loser === network ? (first?.times ?? []) : [];
  }

  return (name: string, nowMs: number, isPeek = false): Decision => {
    const { key, network } = clientOf(name);
    if (nowMs > now) now = Math.floor(nowMs);
    const known = clients.find((each) => each.key === key);
    const client = known ?? { key, network, times: makeRoom(network) };
    clients = [...clients.filter((each) => each !== client), client];
    touch(network);
    client.times = client.times.filter((time) => now - time < windowMs);
    const allowed = client.times.length < limit;
    if (allowed && !isPeek) client.times.push(now);
    const resetMs = (client.times[0] ?? now) + windowMs - now;
    return { allowed, remaining: limit - client.times.length, resetMs };
  };
}

const WRAP = 2 ** 32;
const steps = (windowMs: number) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.nat(Math.ceil(windowMs / 8)) },
    { weight: 3, arbitrary: fc.double({ min: 0, max: windowMs / 4, noNaN: true }) },
    { weight: 3, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.constantFrom(windowMs - 1, windowMs, windowMs + 1, 2 * windowMs) },
    { weight: 1, arbitrary: fc.integer({ min: -3 * windowMs, max: -1 }) },
    { weight: 1, arbitrary: fc.constantFrom(WRAP / 2, WRAP - 1, WRAP, WRAP + 1, 5 * WRAP) },
  );

describe("exact", () => {
  const setup = fc
    .record({
      limit: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 7, max: 70 })),
      windowMs: fc.oneof(
        fc.integer({ min: 1, max: 60 }),
        fc.constantFrom(1000, 3_600_000, 2 ** 31 - 1),
      ),
      start: fc.constantFrom(0, 0.5, WRAP - 500, WRAP, 1.7e12),
      crowd: fc.oneof(
        // Where clients may have expired, the table never fills, because it would matter which of
        // them have been dropped.
        fc.record({
          maxClients: fc.constant(32),
          addresses: fc.constant(3),
          hasTime: fc.constant(true),
        }),
        fc.record({
          maxClients: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.constantFrom(32, 35)),
          addresses: fc.constant(60),
          hasTime: fc.constant(false),
        }),
      ),
    })
    .chain((options) =>
      fc.record({
        options: fc.constant(options),
        arrivals: fc.array(
          fc.record({
            client: fc.oneof(
              fc.constantFrom("a", "a", "b", "n:1", "n:2"),
              fc.nat(options.crowd.addresses).map((at) => `address ${at}`),
              fc.tuple(fc.nat(3), fc.nat(3)).map(([network, at]) => `${network}:${at}`),
            ),
            burst: fc.oneof(fc.constant(1), fc.nat(options.limit + 2)),
            isPeek: fc.nat(3).map((n) => n === 0 && options.crowd.hasTime),
            step: options.crowd.hasTime ? steps(options.windowMs) : fc.constant(0),
          }),
          { maxLength: 160, size: "max" },
        ),
      }),
    );

  test("every decision matches a naive limiter, for any arrivals, options and clock", () => {
    fc.assert(
      fc.property(setup, ({ options: { start, crowd, ...window }, arrivals }) => {
        const options = { ...window, maxClients: crowd.maxClients };
        const { decide, size } = createWindow(options);
        const naive = createNaiveWindow(options);
        let nowMs = start;
        for (const { client, burst, isPeek, step } of arrivals) {
          nowMs = Math.max(0, nowMs + step);
          if (isPeek) expect(decide(client, nowMs, true)).toEqual(naive(client, nowMs, true));
          for (let i = 0; i < burst; i++) {
            expect(decide(client, nowMs)).toEqual(naive(client, nowMs));
          }
          expect(size()).toBeLessThanOrEqual(options.maxClients);
        }
      }),
      { numRuns: runs(100) },
    );
  });

  test("waiting for resetMs is enough, and waiting a millisecond less is not", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 5000 }),
        fc.array(fc.nat(200), { minLength: 1, maxLength: 40 }),
        (limit, windowMs, gaps) => {
          const options = { limit, windowMs, maxClients: 1 };
          const { decide: patient } = createWindow(options);
          const { decide: hasty } = createWindow(options);
          let nowMs = 0;
          for (const gap of gaps) {
            nowMs += gap;
            while (patient("a", nowMs).allowed) hasty("a", nowMs);
            const { resetMs } = hasty("a", nowMs);
            expect(hasty("a", nowMs + resetMs - 1).allowed).toBe(false);
            expect(patient("a", nowMs + resetMs).allowed).toBe(true);
            nowMs += resetMs;
            expect(hasty("a", nowMs).allowed).toBe(true);
          }
        },
      ),
    );
  });
});

describe("bounded", () => {
  test("expired clients are dropped a few at a time, but faster than new clients arrive", () => {
    const { decide, size } = createWindow({ limit: 30, windowMs: 1000, maxClients: 10_000 });
    for (let i = 0; i < 5000; i++) decide(`old ${i}`, i % 10);
    for (let i = 1; i <= 6000; i++) {
      decide(`new ${i}`, 2000);
      expect(size()).toBeLessThanOrEqual(Math.max(i, 5000));
    }
    expect(size()).toBe(6000);
  });

  test("in a /48, rotating gains a sixteenth of all places, and others keep theirs", () => {
    const { decide, size } = createWindow({ limit: 3, windowMs: 1000, maxClients: 160 });
    for (const other of ["a", "b:1", "b:2"]) for (let i = 0; i < 3; i++) decide(other, 0);
    let allowed = 0;
    for (let i = 0; i < 5000; i++) if (decide(`n:${i % 500}`, 1).allowed) allowed++;
    expect([allowed, size()]).toEqual([30, 13]);
    for (const other of ["a", "b:1", "b:2"]) expect(decide(other, 1).allowed).toBe(false);
  });

  test("in a full table, strangers lock nobody out, and gain nothing within their network", () => {
    const { decide, size } = createWindow({ limit: 3, windowMs: 1000, maxClients: 160 });
    const use = (client: string) => [1, 2, 3].filter(() => decide(client, 1).allowed).length;
    // Fifteen full networks, a smaller one that is the largest after them, and three addresses.
    const strangers = Array.from({ length: 15 }, (_, network) =>
      Array.from({ length: 10 }, (_, at) => `${network}:${at}`),
    ).flat();
    const own = Array.from({ length: 7 }, (_, at) => `own:${at}`);
    for (const client of [...strangers, ...own, "a", "b", "c"]) expect(use(client)).toBe(3);
    expect(size()).toBe(160);

    for (let i = 0; i < 300; i++) expect(use(`newcomer ${i}`)).toBe(3);
    expect(size()).toBe(160);
    // The strangers gave up their places until all networks were as small as the other ones.
    const kept = own.filter((client) => !decide(client, 1).allowed);
    expect(kept.length).toBeLessThan(own.length);
  });

  test("the largest network of a full table gains nothing by rotating", () => {
    const { decide } = createWindow({ limit: 3, windowMs: 1000, maxClients: 160 });
    for (let i = 0; i < 155; i++) decide(`${i}`, 0);
    let allowed = 0;
    for (let i = 0; i < 500; i++) if (decide(`n:${i}`, 1).allowed) allowed++;
    expect(allowed).toBe(15);
    expect(decide("0", 1).remaining).toBe(1);
  });

  test("a peek adds only clients that are dropped eventually", () => {
    const { decide, size } = createWindow({ limit: 2, windowMs: 1000, maxClients: 10 });
    for (let i = 0; i < 10; i++) decide(`${i}`, 0, true);
    decide("a", 1);
    decide("b", 1002);
    expect(size()).toBeLessThanOrEqual(2);
  });
});

test("memory is taken for clients when they come, and not for as many as there may be", () => {
  const before = process.memoryUsage.rss();
  const limiter = createMemoryLimiter({ limit: 30, windowMs: 1000, maxClients: 2 ** 24 });
  expect((process.memoryUsage.rss() - before) / 2 ** 20).toBeLessThan(50);
  expect(limiter.consume(clientOf("a")).allowed).toBe(true);
});

test("the default clock advances", async () => {
  const limiter = createMemoryLimiter({ limit: 1, windowMs: 100, maxClients: 1 });
  const consume = () => limiter.consume(clientOf("a"));
  expect(consume().allowed).toBe(true);
  expect(consume().allowed).toBe(false);
  expect(limiter.status()).toEqual({ store: "memory", up: true, clients: 1, maxClients: 1 });
  await until(() => consume().allowed);
});
