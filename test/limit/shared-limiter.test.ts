/** The shared limiter with a broken store. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Decision } from "../../src/limit/limiter.ts";
import { createMemoryLimiter } from "../../src/limit/limiter.ts";
import { consumeBoth, openSharedLimiter } from "../../src/limit/shared-limiter.ts";
import { runs } from "../runs.ts";

const placeOf = (key: string) => ({ key, network: key });
const a = placeOf("a");

const UNEXPECTED = "unexpected reply from the store";

test.each<[string, reply: string, reason: string | undefined]>([
  ["replies OK to anything", "+OK\r\n", UNEXPECTED],
  ...[
    ...["*0", "*1 :1", "*2 :1 :29", "*3 _ _ _", "*3 $-1 $-1 $-1", "*3 $1 1 $2 29 $1 9", "_", "*-1"],
    ...["*3 :1 :-5 :-100", "*3 :1 :2 :0", "*3 :1 :1000001 :9", "*3 :2 :1 :9", "*3 :-1 :0 :9"],
    ...["*3 ,0.5 :1 :9", "*3 :1 ,1.5 :9", "*3 :1 :1 ,nan", "*3 :1 :1 ,inf", "*3 #t :1 :9"],
    ...["*3 :0 :1 :9", "*3 :0 :0 :-1", "*3 :1 :1 :86400002", "*3 :1 :1 :9223372036854775807"],
  ].map((reply): [string, string, string] => [
    `decides ${reply}`,
    `${reply.replaceAll(" ", "\r\n")}\r\n`,
    UNEXPECTED,
  ]),
  ["is an HTTP server", "HTTP/1.1 400 Bad Request\r\n\r\n", undefined],
  ["announces an array larger than any memory", "*2147483647\r\n", undefined],
  ["nests 100,000 arrays", "*1\r\n".repeat(100_000), undefined],
  ["never replies", "", "no response within 100 ms"],
])("a store that %s counts as down, and memory decides", async (_, reply, reason) => {
  const fake = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket, data) {
        // Bun's client sends its first command only after a good reply to HELLO.
        const isHello = reason === UNEXPECTED && data.includes("HELLO");
        socket.write(isHello ? "+OK\r\n" : reply);
      },
    },
  });
  const events: string[] = [];
  const options = {
    url: `redis://127.0.0.1:${fake.port}`,
    limit: 2,
    windowMs: 60_000,
    maxClients: 10,
    onDown: (reason: string) => events.push(reason),
    onUp: () => events.push("up"),
  };
  const limiter = await openSharedLimiter(options, { connectMs: 100 });
  try {
    expect(events).toEqual([reason ?? expect.not.stringMatching(/^up$/)]);
    expect(limiter.consume(a)).toMatchObject({ allowed: true, remaining: 1 });
    expect(limiter.consume(a)).toMatchObject({ allowed: true, remaining: 0 });
    expect(limiter.consume(a)).toMatchObject({ allowed: false, resetMs: expect.any(Number) });
  } finally {
    limiter[Symbol.dispose]();
    fake.stop(true);
  }
});

test("a store that needs most of the deadline is kept while the process lags", async () => {
  const deadlineMs = 3_000;
  const slow = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      async data(socket, data) {
        if (!data.includes("EVAL")) return void socket.write("+OK\r\n");
        if (!data.includes("probe")) await Bun.sleep(0.7 * deadlineMs);
        socket.write("*3\r\n:1\r\n:0\r\n:1000\r\n");
      },
    },
  });
  const events: string[] = [];
  const options = {
    url: `redis://127.0.0.1:${slow.port}`,
    limit: 2,
    windowMs: 60_000,
    maxClients: 10,
    onDown: (reason: string) => events.push(reason),
    onUp: () => events.push("up"),
  };
  const limiter = await openSharedLimiter(options, { deadlineMs });
  try {
    const decision = limiter.consume(a);
    Bun.sleepSync(1.2 * deadlineMs);
    expect([(await decision).remaining, events]).toEqual([0, ["up"]]);
  } finally {
    limiter[Symbol.dispose]();
    slow.stop(true);
  }
});

describe("decisions made by memory and a store together", () => {
  const windowMs = 100;
  const setup = fc.record({
    limit: fc.integer({ min: 1, max: 4 }),
    places: fc.integer({ min: 1, max: 4 }),
    arrivals: fc.array(
      fc.record({
        client: fc.constantFrom("a", "a", "b", "c", "d", "e"),
        step: fc.integer({ min: -30, max: 30 }),
        // The store is down (undefined), has lost its counts (infinity), or has counts of its own.
        left: fc.constantFrom(undefined, Number.POSITIVE_INFINITY, -1, 0, 1, 2),
        waitMs: fc.integer({ min: 1, max: 200 }),
        settled: fc.nat(2),
      }),
      { maxLength: 60 },
    ),
  });

  function decisionOf(limit: number, left: number, waitMs: number): Decision {
    const remaining = Math.max(Math.min(left, limit - 1), 0);
    return { allowed: left >= 0, remaining, resetMs: waitMs };
  }

  test("allow no more than memory alone, for any replies, delays and clock", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), setup, async (scheduler, { arrivals, ...options }) => {
        const { limit, places } = options;
        let nowMs = 0;
        let highestMs = Number.NEGATIVE_INFINITY;
        // All clients are in one network, which has a sixteenth of all places.
        const maxClients = 16 * places;
        const clock = () => nowMs;
        const memory = createMemoryLimiter({ limit, windowMs, maxClients, clock });
        const allowed: { client: string; atMs: number }[] = [];
        const decisions: Promise<Decision>[] = [];
        const settle = async () => {
          if (scheduler.count() > 0) await scheduler.waitOne();
          await new Promise((resolve) => setImmediate(resolve));
        };
        for (const { client, step, left, waitMs, settled } of arrivals) {
          nowMs += step;
          highestMs = Math.max(highestMs, nowMs);
          const shared = left === undefined ? undefined : decisionOf(limit, left, waitMs);
          const ask = () => scheduler.schedule(Promise.resolve(shared));
          const decided = consumeBoth(memory, { key: client, network: "n" }, ask).then(
            (decision) => {
              if (decision.allowed) allowed.push({ client, atMs: highestMs });
              return decision;
            },
          );
          decisions.push(decided);
          for (let i = 0; i < settled; i++) await settle();
          expect(memory.status().clients).toBeLessThanOrEqual(places);
        }
        while (scheduler.count() > 0) await settle();
        for (const decision of await Promise.all(decisions)) {
          if (!decision.allowed) expect(decision.remaining).toBe(0);
        }

        const expectBounded = (times: number[], max: number) => {
          times.forEach((time, i) => {
            const first = times[i - max];
            if (first !== undefined) expect(time - first).toBeGreaterThanOrEqual(windowMs);
          });
        };
        const timesOf = (clients: typeof allowed) => clients.map(({ atMs }) => atMs);
        expectBounded(timesOf(allowed), limit * places);
        const clients = new Set(arrivals.map(({ client }) => client));
        if (clients.size > places) return;
        for (const client of clients) {
          expectBounded(timesOf(allowed.filter((request) => request.client === client)), limit);
        }
      }),
      { numRuns: runs(200) },
    );
  });

  // The store's decision, if it is up: how many searches are left, and the wait.
  test.each<[string, used: number, shared: [number, number] | undefined, Partial<Decision>]>([
    ["a store that is down", 1, undefined, { allowed: true, remaining: 1, resetMs: 60 }],
    ["fewer remaining in the store", 1, [0, 9], { allowed: true, remaining: 0, resetMs: 9 }],
    ["more remaining in the store", 2, [1, 9], { allowed: true, remaining: 0, resetMs: 60 }],
    ["the same number remaining", 1, [1, 70], { allowed: true, remaining: 1, resetMs: 70 }],
    ["a store that refuses for longer", 3, [-1, 99], { allowed: false, resetMs: 99 }],
    ["a store that refuses for a shorter time", 3, [-1, 9], { allowed: false, resetMs: 60 }],
    ["memory at its limit", 3, [2, 99], { allowed: false, remaining: 0, resetMs: 60 }],
  ])("with %s, the stricter decision is reported", async (_, used, shared, reported) => {
    let nowMs = 0;
    const memory = createMemoryLimiter({ limit: 3, windowMs, maxClients: 1, clock: () => nowMs });
    for (let i = 0; i < used; i++) memory.consume(a);
    nowMs = 40;
    const ask = async () => shared && decisionOf(3, ...shared);
    expect(await consumeBoth(memory, a, ask)).toMatchObject(reported);
  });

  test("a request that memory or the store refuses is not counted in the other", async () => {
    const memory = createMemoryLimiter({ limit: 1, windowMs, maxClients: 1, clock: () => 0 });
    const counted: boolean[] = [];
    const ask = (left: number) => async (isCounted: boolean) => {
      counted.push(isCounted);
      return decisionOf(1, left, 9);
    };
    await consumeBoth(memory, a, ask(-1));
    expect(memory.consume(a).allowed).toBe(true);
    await consumeBoth(memory, a, ask(1));
    expect(counted).toEqual([true, false]);
  });
});
