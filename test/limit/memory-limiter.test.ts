/** The in-memory limiter is exact and bounded, as src/limit/README.md says. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Decision, LimiterOptions } from "../../src/limit/decision.ts";
import { MemoryLimiter } from "../../src/limit/memory-limiter.ts";
import { runs } from "../runs.ts";
import { until } from "../support.ts";

type WindowOptions = Omit<LimiterOptions, "clock">;

/** Returns a function that decides at a given time, and the number of tracked clients. */
function createWindow(options: WindowOptions) {
  let nowMs = 0;
  const limiter = new MemoryLimiter({ ...options, clock: () => nowMs });
  const decide = (client: string, atMs: number, isPeek = false): Decision => {
    nowMs = atMs;
    return isPeek ? limiter.peek(client) : limiter.consume(client);
  };
  return { decide, size: () => limiter.status().clients };
}

/**
 * A simple reference limiter: a list of timestamps per client, with the least recently seen client
 * first.
 */
function createNaiveWindow({ limit, windowMs, maxClients }: WindowOptions) {
  const clients = new Map<string, number[]>();
  let now = Number.NEGATIVE_INFINITY;
  return (client: string, nowMs: number, isPeek = false): Decision => {
    if (nowMs > now) now = Math.floor(nowMs);
    const [leastRecent = ""] = clients.keys();
    const place = clients.has(client) || clients.size < maxClients ? client : leastRecent;
    const allowedAt = clients.get(place) ?? [];
    clients.delete(place);
    const timestamps = allowedAt.filter((timestamp) => now - timestamp < windowMs);
    const allowed = timestamps.length < limit;
    if (allowed && !isPeek) timestamps.push(now);
    clients.set(client, timestamps);
    const resetMs = (timestamps[0] ?? now) + windowMs - now;
    return { allowed, remaining: limit - timestamps.length, resetMs };
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
      maxClients: fc.integer({ min: 1, max: 5 }),
      start: fc.constantFrom(0, 0.5, WRAP - 500, WRAP, 1.7e12),
    })
    .chain((options) =>
      fc.record({
        options: fc.constant(options),
        arrivals: fc.array(
          fc.record({
            client: fc.constantFrom("a", "a", "a", "b", "c", "d"),
            burst: fc.oneof(fc.constant(1), fc.nat(options.limit + 2)),
            isPeek: fc.nat(3).map((n) => n === 0),
            step: steps(options.windowMs),
          }),
          { maxLength: 120 },
        ),
      }),
    );

  test("every decision matches a naive limiter, for any arrivals, options and clock", () => {
    fc.assert(
      fc.property(setup, ({ options: { start, ...options }, arrivals }) => {
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
      { numRuns: runs(200) },
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
      expect(size()).toBe(Math.max(i, 5000 - i));
    }
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
  const limiter = new MemoryLimiter({ limit: 30, windowMs: 1000, maxClients: 2 ** 24 });
  expect((process.memoryUsage.rss() - before) / 2 ** 20).toBeLessThan(50);
  expect(limiter.consume("a").allowed).toBe(true);
});

test("the default clock advances", async () => {
  const limiter = new MemoryLimiter({ limit: 1, windowMs: 100, maxClients: 1 });
  expect(limiter.consume("a").allowed).toBe(true);
  expect(limiter.consume("a").allowed).toBe(false);
  expect(limiter.status()).toEqual({ store: "memory", up: true, clients: 1 });
  await until(() => limiter.consume("a").allowed);
});
