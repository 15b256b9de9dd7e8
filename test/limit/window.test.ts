/** Owns the proof that the window is exact, and bounded as its docstring says, clock passed in. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { createWindow, type Decision } from "../../src/limit/window.ts";
import { root, run } from "../support.ts";

/** The definition: a list of times a client. */
function createNaiveWindow(limit: number, windowMs: number) {
  const allowedAt = new Map<string, number[]>();
  let now = Number.NEGATIVE_INFINITY;
  return (client: string, nowMs: number): Decision => {
    if (nowMs > now) now = Math.floor(nowMs);
    const times = (allowedAt.get(client) ?? []).filter((time) => now - time < windowMs);
    const allowed = times.length < limit;
    if (allowed) times.push(now);
    allowedAt.set(client, times);
    const resetMs = (times[0] as number) + windowMs - now;
    return { allowed, limit, remaining: limit - times.length, resetMs };
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
    })
    .chain((options) =>
      fc.record({
        options: fc.constant(options),
        arrivals: fc.array(
          fc.record({
            client: fc.constantFrom("a", "a", "a", "b", "c"),
            burst: fc.oneof(fc.constant(1), fc.nat(options.limit + 2)),
            step: steps(options.windowMs),
          }),
          { maxLength: 120 },
        ),
      }),
    );

  test("every decision is the naive list's, whatever the arrivals, limits, windows and clock", () => {
    fc.assert(
      fc.property(setup, ({ options: { limit, windowMs, start }, arrivals }) => {
        const window = createWindow({ limit, windowMs, maxClients: 3 });
        const naive = createNaiveWindow(limit, windowMs);
        let nowMs = start;
        for (const { client, burst, step } of arrivals) {
          nowMs = Math.max(0, nowMs + step);
          for (let i = 0; i < burst; i++) {
            expect(window.take(client, nowMs)).toEqual(naive(client, nowMs));
          }
        }
      }),
      { numRuns: 400 },
    );
  });

  test("no window holds more than the limit, counted from outside", () => {
    const window = createWindow({ limit: 30, windowMs: 3_600_000, maxClients: 10 });
    const allowedAt: number[] = [];
    for (let nowMs = 0; nowMs < 10 * 3_600_000; nowMs += 7919) {
      if (window.take("a", nowMs).allowed) allowedAt.push(nowMs);
    }
    allowedAt.forEach((time, i) => {
      const thirtieth = allowedAt[i + 30];
      if (thirtieth !== undefined) expect(thirtieth - time).toBeGreaterThanOrEqual(3_600_000);
    });
    expect(allowedAt).toHaveLength(300);
  });

  test("waiting resetMs is enough, and a millisecond less is not", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 5000 }),
        fc.array(fc.nat(200), { minLength: 1, maxLength: 40 }),
        (limit, windowMs, gaps) => {
          const options = { limit, windowMs, maxClients: 1 };
          const [patient, hasty] = [createWindow(options), createWindow(options)];
          let nowMs = 0;
          for (const gap of gaps) {
            nowMs += gap;
            while (patient.take("a", nowMs).allowed) hasty.take("a", nowMs);
            const { resetMs } = hasty.take("a", nowMs);
            expect(hasty.take("a", nowMs + resetMs - 1).allowed).toBe(false);
            expect(patient.take("a", nowMs + resetMs).allowed).toBe(true);
            nowMs += resetMs;
            expect(hasty.take("a", nowMs).allowed).toBe(true);
          }
        },
      ),
    );
  });

  test("of whole seconds, the rounded-up wait is enough, and one less is not", () => {
    for (const secondsLater of [0, 0.001, 0.4, 0.999, 1, 1.5]) {
      const window = createWindow({ limit: 1, windowMs: 2000, maxClients: 1 });
      window.take("a", 10_000);
      const nowMs = 10_000 + 1000 * secondsLater;
      const waitMs = 1000 * Math.ceil(window.take("a", nowMs).resetMs / 1000);
      expect(window.take("a", nowMs + waitMs - 1000).allowed).toBe(false);
      expect(window.take("a", nowMs + waitMs).allowed).toBe(true);
    }
  });

  test("a client that keeps knocking gets in as soon as its oldest request leaves", () => {
    const window = createWindow({ limit: 2, windowMs: 100, maxClients: 1 });
    const allowedAt = Array.from({ length: 250 }, (_, i) => i).filter(
      (nowMs) => window.take("a", nowMs).allowed,
    );
    expect(allowedAt).toEqual([0, 1, 100, 101, 200, 201]);
  });

  test("a limit of 100,000 counts to 100,000", () => {
    const window = createWindow({ limit: 100_000, windowMs: 500, maxClients: 2 });
    const allowedOf = (nowMsOf: (i: number) => number) =>
      Array.from({ length: 110_000 }, (_, i) => window.take("a", nowMsOf(i))).filter(
        ({ allowed }) => allowed,
      ).length;
    expect(allowedOf((i) => i / 1000)).toBe(100_000);
    // A thousand a millisecond: at 550 those of milliseconds 0 to 50 have left.
    expect(allowedOf(() => 550)).toBe(51_000);
  });
});

describe("clocks", () => {
  const options = { limit: 1, windowMs: 100, maxClients: 10 };

  test("a clock that goes back frees nothing, and makes no one wait longer than the window", () => {
    const window = createWindow(options);
    window.take("a", 1000);
    for (const nowMs of [999, 0, -5, -1e300]) {
      expect(window.take("a", nowMs)).toMatchObject({ allowed: false, resetMs: 100 });
    }
    expect(window.take("a", 1099).allowed).toBe(false);
    expect(window.take("a", 1100).allowed).toBe(true);
  });

  test("after 50 days, when the kept 32 bits of a time come round, nothing old looks new", () => {
    const window = createWindow({ limit: 3, windowMs: 1000, maxClients: 100 });
    for (let i = 0; i < 300; i++) window.take(`${i % 100}`, 0);
    for (let i = 99; i >= 0; i--) {
      expect(window.take(`${i}`, WRAP + 10)).toMatchObject({ remaining: 2, resetMs: 1000 });
    }
  });

  test("a clock that gives no number never throws and never frees", () => {
    for (const odd of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e300]) {
      const window = createWindow(options);
      expect(window.take("a", odd).allowed).toBe(true);
      expect(window.take("a", odd)).toMatchObject({ allowed: false, resetMs: 100 });
      expect(window.take("b", 5000).allowed).toBe(true);
      expect(window.take("b", odd)).toMatchObject({ allowed: false, resetMs: 100 });
    }
  });
});

describe("bounded", () => {
  test("a client over its limit stays refused while 100,000 other addresses take turns", () => {
    const window = createWindow({ limit: 3, windowMs: 200_000, maxClients: 1000 });
    for (let i = 0; i < 3; i++) window.take("over", 0);
    for (let i = 1; i <= 100_000; i++) {
      window.take(`address ${i}`, i);
      if (i % 1000 === 0) {
        expect(window.take("over", i)).toMatchObject({ allowed: false, resetMs: 200_000 - i });
      }
    }
    expect(window.size).toBe(1000);
    expect(window.take("over", 200_000).allowed).toBe(true);
  });

  test("past the cap, all addresses together get no more than limit × maxClients", () => {
    fc.assert(
      fc.property(
        fc.record({
          limit: fc.integer({ min: 1, max: 9 }),
          maxClients: fc.integer({ min: 1, max: 9 }),
          arrivals: fc.array(
            fc.record({ client: fc.nat(40), step: fc.nat(12), burst: fc.nat(10) }),
            { minLength: 50, maxLength: 150 },
          ),
        }),
        ({ limit, maxClients, arrivals }) => {
          const windowMs = 100;
          const window = createWindow({ limit, windowMs, maxClients });
          const allowedAt: number[] = [];
          let nowMs = 0;
          for (const { client, step, burst } of arrivals) {
            nowMs += step;
            for (let i = 0; i < burst; i++) {
              if (window.take(`${client}`, nowMs).allowed) allowedAt.push(nowMs);
              expect(window.size).toBeLessThanOrEqual(maxClients);
            }
          }
          allowedAt.forEach((time, i) => {
            const first = allowedAt[i - limit * maxClients];
            if (first !== undefined) expect(time - first).toBeGreaterThanOrEqual(windowMs);
          });
        },
      ),
    );
  });

  test("past the cap, a newcomer takes over from the longest silent of those who used least", () => {
    const window = createWindow({ limit: 10, windowMs: 1000, maxClients: 3 });
    window.take("twice", 0);
    window.take("twice", 1);
    window.take("once", 2);
    window.take("once, later", 3);
    expect(window.take("newcomer", 4)).toMatchObject({ allowed: true, remaining: 8, resetMs: 998 });
    expect(window.take("once, later", 5).remaining).toBe(8);
    expect(window.take("twice", 6).remaining).toBe(7);
    // All have used two or three by now: the newcomer has been silent for longest.
    expect(window.take("once", 7)).toMatchObject({ remaining: 7, resetMs: 995 });
  });

  test("past the cap, a newcomer is refused only when nobody has anything left, and told till when", () => {
    const window = createWindow({ limit: 2, windowMs: 1000, maxClients: 2 });
    const taken = [0, 10, 20, 30].map((nowMs) => window.take(`at ${nowMs}`, nowMs).allowed);
    expect(taken).toEqual([true, true, true, true]);
    expect(window.take("newcomer", 40)).toMatchObject({ allowed: false, resetMs: 960 });
    expect(window.take("newcomer", 999).allowed).toBe(false);
    expect(window.take("newcomer", 1000)).toMatchObject({ allowed: true, remaining: 0 });
  });

  test("past the cap, clients over their limit do not stand before those with something left", () => {
    const window = createWindow({ limit: 3, windowMs: 1000, maxClients: 2 });
    for (let i = 0; i < 3; i++) window.take("over", 0);
    for (let i = 0; i < 2; i++) window.take("not over", 1);
    expect(window.take("newcomer", 2)).toMatchObject({ allowed: true, remaining: 0 });
    expect(window.take("over", 999).allowed).toBe(false);
  });

  test("an expired client's place comes without what it had used", () => {
    const window = createWindow({ limit: 5, windowMs: 100, maxClients: 2 });
    for (const client of ["a", "a", "b"]) window.take(client, 0);
    expect(window.take("newcomer", 100)).toMatchObject({ remaining: 4, resetMs: 100 });
  });

  test("expired clients leave a few at a time, faster than new ones come", () => {
    const window = createWindow({ limit: 30, windowMs: 1000, maxClients: 10_000 });
    for (let i = 0; i < 9000; i++) window.take(`old ${i}`, i % 10);
    for (let i = 1; i <= 3000; i++) {
      window.take(`new ${i}`, 2000);
      expect(window.size).toBe(Math.max(i, 9000 - 3 * i));
    }
  });

  test("a million clients cost at most 160 MB", async () => {
    // In a process of its own: here, the garbage of other tests would count.
    const program = `
      import { createWindow } from ${JSON.stringify(join(root, "src/limit/window.ts"))};
      Bun.gc(true);
      const before = process.memoryUsage.rss();
      const window = createWindow({ limit: 30, windowMs: 3_600_000, maxClients: 1_000_000 });
      for (let i = 0; i < 1_000_000; i++) {
        window.take(\`10.\${i >> 16}.\${(i >> 8) & 255}.\${i & 255}\`, i);
        if (i % 100_000 === 0) Bun.gc(true);
      }
      Bun.gc(true);
      console.log(window.size, process.memoryUsage.rss() - before);
    `;
    const { stdout, stderr } = await run([process.execPath, "-e", program]);
    expect(stderr).toBe("");
    const [size, bytes] = stdout.trim().split(" ").map(Number);
    expect(size).toBe(1_000_000);
    expect(bytes).toBeLessThan(160e6);
  });

  test.each([
    { limit: 0 },
    { limit: 1.5 },
    { limit: 2 ** 28 },
    { windowMs: 0 },
    { windowMs: 0.5 },
    { windowMs: 2 ** 31 },
    { maxClients: 0 },
    { maxClients: 2 ** 25 },
    { maxClients: Number.NaN },
  ])("%o is out of bounds", (wrong) => {
    const options = { limit: 30, windowMs: 1000, maxClients: 10, ...wrong };
    expect(() => createWindow(options)).toThrow(RangeError);
  });
});
