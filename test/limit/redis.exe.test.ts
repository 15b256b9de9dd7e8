/** Owns the proof that instances share one exact budget through a real store, and live without. */
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Limiter } from "../../src/limit/limiter.ts";
import { openSharedLimiter, type SharedLimiterOptions } from "../../src/limit/redis.ts";
import { openExecutable, roadbook, temporaryFolder, until } from "../support.ts";
import { hasRedisServer, openRedisServer } from "./redis-server.ts";

const isEmpty = (reply: unknown) => Array.isArray(reply) && reply.length === 0;

/** How far the store's clock may be behind the first request. */
const LATE_MS = 10_000;
/** The deadline is 50 ms; a machine under load may be late to notice. */
const AT_ONCE_MS = 1000;

const required = process.env.ROADBOOK_REQUIRE_ALL === "1";
const skipped = !hasRedisServer() && !required;
if (skipped) console.log("skipped: no redis-server on the PATH to test the shared limit with");

describe.skipIf(skipped)("a shared limiter", async () => {
  if (skipped) return;
  const server = await openRedisServer();
  const opened: Limiter[] = [];
  const events: string[] = [];

  async function open(options: Partial<SharedLimiterOptions> = {}): Promise<Limiter> {
    const limiter = await openSharedLimiter({
      url: server.url,
      limit: 30,
      windowMs: 3_600_000,
      maxClients: 1000,
      onDown: (reason) => events.push(`down: ${reason}`),
      onUp: () => events.push("up"),
      ...options,
    });
    opened.push(limiter);
    return limiter;
  }

  afterEach(async () => {
    for (const limiter of opened.splice(0)) limiter.close();
    events.length = 0;
    await server.send("FLUSHALL");
  });
  afterAll(() => server.close());

  test("three instances allow exactly 30 of 90 that come at once, and count down to 0", async () => {
    const three = await Promise.all([1, 2, 3].map(() => open()));
    const decisions = await Promise.all(
      Array.from({ length: 90 }, (_, i) => (three[i % 3] as Limiter).consume("203.0.113.7")),
    );
    const allowed = decisions.filter((decision) => decision.allowed);
    expect(allowed).toHaveLength(30);
    expect(allowed.map(({ remaining }) => remaining).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 30 }, (_, i) => i),
    );
    for (const { resetMs, limit } of decisions) {
      expect(limit).toBe(30);
      expect(resetMs).toBeGreaterThan(3_600_000 - LATE_MS);
      expect(resetMs).toBeLessThanOrEqual(3_600_000);
    }
    expect((await (three[0] as Limiter).consume("203.0.113.8")).remaining).toBe(29);
    expect(events).toEqual(["up", "up", "up"]);
  });

  test("a refused client that waits as long as told is let in, and keys go with the window", async () => {
    const limiter = await open({ limit: 2, windowMs: 300 });
    const first = await limiter.consume("a");
    const second = await limiter.consume("a");
    const third = await limiter.consume("a");
    expect([first, second, third].map(({ allowed }) => allowed)).toEqual([true, true, false]);
    await Bun.sleep(third.resetMs + 1); // as told
    expect((await limiter.consume("a")).allowed).toBe(true);
    await until(async () => isEmpty(await server.send("KEYS", "roadbook:limit:*")));
  });

  test("a window slides over a long list, also when the store's clock is behind a time in it", async () => {
    const limiter = await open({ limit: 1000, windowMs: 60_000 });
    const now = Date.now();
    const past = Array.from({ length: 700 }, (_, i) => `${now - 100_000 + i}`);
    const recent = Array.from({ length: 999 }, (_, i) => `${now - 50_000 + i}`);
    await server.send("RPUSH", "roadbook:limit:a", ...past, ...recent);
    const last = await limiter.consume("a");
    expect(last).toMatchObject({ allowed: true, remaining: 0 });
    expect(last.resetMs).toBeLessThanOrEqual(10_000);
    expect((await limiter.consume("a")).allowed).toBe(false);
    expect(await server.send("LLEN", "roadbook:limit:a")).toBe(1000);

    await server.send("RPUSH", "roadbook:limit:b", `${now + 86_400_000}`);
    expect(await limiter.consume("b")).toMatchObject({ remaining: 998, resetMs: 60_000 });
  });

  test("a store whose scripts were flushed gets the script again", async () => {
    const limiter = await open();
    await server.send("SCRIPT", "FLUSH");
    const decisions = await Promise.all([1, 2, 3].map(() => limiter.consume("a")));
    expect(decisions.map(({ remaining }) => remaining)).toEqual([29, 28, 27]);
    expect(limiter.status()).toEqual({ store: "redis", up: true, clients: 1 });
  });

  test("when the store is killed, memory decides on with what it counted, until it is back", async () => {
    const limiter = await open({ limit: 3 });
    await limiter.consume("a");
    await limiter.consume("a");
    await server.kill();
    const before = performance.now();
    expect((await limiter.consume("a")).remaining).toBe(0);
    expect((await limiter.consume("a")).allowed).toBe(false);
    expect(performance.now() - before).toBeLessThan(AT_ONCE_MS);
    // Down is known by now: no promise, no wait.
    expect(limiter.consume("b")).toMatchObject({ allowed: true, remaining: 2 });
    expect(limiter.status()).toEqual({ store: "redis", up: false, clients: 2 });

    await server.start();
    await until(() => limiter.status().up);
    expect(limiter.consume("a")).toBeInstanceOf(Promise);
    expect(events).toEqual(["up", expect.stringMatching(/^down: /), "up"]);
  });

  test("when the store is frozen, decisions under way and to come are memory's, until it thaws", async () => {
    const limiter = await open();
    await limiter.consume("a");
    server.freeze();
    const before = performance.now();
    const decisions = await Promise.all(Array.from({ length: 20 }, () => limiter.consume("a")));
    expect(performance.now() - before).toBeLessThan(AT_ONCE_MS);
    expect(decisions.map(({ remaining }) => remaining)).toEqual(
      Array.from({ length: 20 }, (_, i) => 28 - i),
    );
    expect(limiter.consume("a")).toMatchObject({ remaining: 8 });
    await Bun.sleep(300); // in which it does not come back
    expect(limiter.status().up).toBe(false);

    server.thaw();
    await until(() => limiter.status().up);
    expect(events).toEqual(["up", "down: no response within 50 ms", "up"]);
  });

  test("a store that is not there at the start is waited for in the background", async () => {
    await server.kill();
    const limiter = await open();
    expect(limiter.consume("a")).toMatchObject({ allowed: true, remaining: 29 });
    await Bun.sleep(400); // in which it is tried again, and nothing said
    expect(events).toEqual([expect.stringMatching(/^down: /)]);
    await server.start();
    await until(() => limiter.status().up);
    expect(events.at(-1)).toBe("up");
  });

  test("a closed limiter still decides, in memory, and does not come back", async () => {
    const limiter = await open();
    await limiter.consume("a");
    limiter.close();
    limiter.close();
    expect(limiter.consume("a")).toMatchObject({ remaining: 28 });
    await Bun.sleep(300); // in which it would have come back
    expect(limiter.status().up).toBe(false);
    expect(events).toEqual(["up"]);
  });

  test("a wrong password is reported as one, and neither it nor a right one gets into a message", async () => {
    const guarded = await openRedisServer("correct-horse");
    try {
      await open({ url: guarded.url });
      expect(events.splice(0)).toEqual(["up"]);
      for (const [url, reason] of [
        [guarded.url.replace("correct", "battery"), "the store refused the user or password"],
        [
          guarded.url.replace(":correct", "nobody:correct"),
          "the store refused the user or password",
        ],
        [guarded.url.replace(":correct-horse@", ""), "the store wants a password"],
      ] as const) {
        const limiter = await open({ url });
        expect(limiter.status().up).toBe(false);
        expect(events.splice(0)).toEqual([`down: ${reason}`]);
        limiter.close();
      }
    } finally {
      await guarded.close();
    }
  });

  test("a user needs the script's own commands, and no other", async () => {
    const rights = "+eval +evalsha +time +lindex +llen +ltrim +rpush +pexpireat".split(" ");
    await server.send("ACL", "SETUSER", "counter", "on", ">secret", "~roadbook:limit:*", ...rights);
    const limiter = await open({ url: server.url.replace("//", "//counter:secret@") });
    expect((await limiter.consume("a")).remaining).toBe(29);
    expect(events).toEqual(["up"]);
  });

  test("a process that lags finds the store as it is, and the budget stays exact", async () => {
    const three = await Promise.all([1, 2, 3].map(() => open()));
    let allowed = 0;
    for (let round = 0; round < 12; round++) {
      const asked = three.map((limiter) => limiter.consume("a"));
      // Two deadlines long nobody reads what the store has sent.
      Bun.sleepSync(100);
      for (const decision of await Promise.all(asked)) if (decision.allowed) allowed++;
    }
    expect([allowed, events]).toEqual([30, ["up", "up", "up"]]);
  });

  test("a store that refuses to write is down, and its own words stay out of the message", async () => {
    const limiter = await open();
    await server.send("CONFIG", "SET", "min-replicas-to-write", "1");
    expect((await limiter.consume("a")).remaining).toBe(29);
    await Bun.sleep(300); // in which it is tried again, and nothing said
    expect(events).toEqual(["up", "down: the store responded NOREPLICAS"]);
    await server.send("CONFIG", "SET", "min-replicas-to-write", "0");
    await until(() => limiter.status().up);
  });
});

describe("--rate-limit-store-file", () => {
  const write = (text: string) => {
    const path = join(temporaryFolder(), "store-url");
    writeFileSync(path, text);
    return path;
  };

  test.skipIf(!hasRedisServer())(
    "has the URL of the store, which no list of processes shows",
    async () => {
      const store = await openRedisServer("correct-horse");
      let log = "";
      const target = await openExecutable(
        ["--rate-limit-store-file", write(`${store.url}\n`)],
        (text) => {
          log += text;
        },
      );
      expect(await (await target.fetch("/health")).json()).toMatchObject({
        search_limit: { store: "redis", up: true },
      });
      await target.close();
      expect(log).not.toContain("horse");
      await store.close();
    },
  );

  test.each([
    [["nowhere/url"], 1, "nowhere/url cannot be read: no such file or directory\n"],
    [[write("")], 1, " holds no redis://, rediss:// or valkey:// URL\n"],
    [[write("redis://:12/secret@h")], 1, " holds no redis://, rediss:// or valkey:// URL\n"],
    [["x", "--rate-limit-store", "redis://h"], 2, "exclude each other\n"],
  ])("%j ends with one line that repeats none of it", async (words, code, line) => {
    const outcome = await roadbook(["--port", "0", "--rate-limit-store-file", ...words]);
    expect([outcome.code, outcome.stdout]).toEqual([code, ""]);
    expect(outcome.stderr).toContain(line);
    expect(outcome.stderr).not.toContain("secret");
    expect(outcome.stderr.trimEnd()).not.toContain("\n");
  });
});
