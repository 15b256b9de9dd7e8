/**
 * The shared store that src/limit/README.md describes: instances share one exact budget through the
 * store, and decide on their own while the store is down.
 */
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Limiter } from "../../src/limit/limiter.ts";
import { openSharedLimiter } from "../../src/limit/shared-limiter.ts";
import {
  findFreePort,
  makeCertificate,
  openExecutable,
  root,
  tryProgram,
  until,
} from "../support.ts";
import { openRedisServer } from "./redis-server.ts";

const placeOf = (key: string) => ({ key, network: key });

/** The maximum time that a test may take after its first request. */
const LATE_MS = 10_000;
/** With these, a store on a machine under load is late only if it does not respond at all. */
const TIMING = { deadlineMs: 5000, connectMs: 5000, retryMs: 20 };

const skipped = !tryProgram("redis-server");

describe.skipIf(skipped)("a shared limiter", async () => {
  if (skipped) return;
  const server = await openRedisServer();
  const opened: Limiter[] = [];
  const events: string[] = [];

  async function open(
    options: Partial<Parameters<typeof openSharedLimiter>[0]> = {},
    timing: Partial<typeof TIMING> = {},
  ) {
    const defaults = {
      url: server.url,
      limit: 30,
      windowMs: 3_600_000,
      maxClients: 1000,
      onDown: (reason: string) => events.push(`down: ${reason}`),
      onUp: () => events.push("up"),
    };
    const limiter = await openSharedLimiter({ ...defaults, ...options }, { ...TIMING, ...timing });
    opened.push(limiter);
    return limiter;
  }

  afterEach(async () => {
    for (const limiter of opened.splice(0)) limiter[Symbol.dispose]();
    events.length = 0;
    await server.send("FLUSHALL");
  });
  afterAll(() => server.kill());

  test("three instances together allow exactly 30 of 90 requests, and count down to 0", async () => {
    const three = await Promise.all([1, 2, 3].map(() => open()));
    const decisions = await Promise.all(
      Array.from({ length: 30 }, () =>
        three.map((limiter) => limiter.consume(placeOf("a"))),
      ).flat(),
    );
    const allowed = decisions.filter((decision) => decision.allowed);
    expect(allowed.map(({ remaining }) => remaining).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 30 }, (_, i) => i),
    );
    for (const { resetMs } of decisions) {
      expect(resetMs).toBeWithin(3_600_000 - LATE_MS, 3_600_001);
    }
    expect(await three[0]?.consume(placeOf("b"))).toMatchObject({ remaining: 29 });
    expect(events).toEqual(["up", "up", "up"]);
  });

  test("a burst of one client is few questions to the store, and holds up no other client", async () => {
    const two = await Promise.all([1, 2].map(() => open({}, { deadlineMs: 50 })));
    await server.send("CONFIG", "RESETSTAT");
    let allowed = 0;
    for (let round = 0; round < 20; round++) {
      const burst = Array.from({ length: 100 }, () =>
        two.map((limiter) => limiter.consume(placeOf("a"))),
      );
      for (const decision of await Promise.all(burst.flat())) if (decision.allowed) allowed++;
    }
    expect(allowed).toBe(30);
    const [, asked] = /eval:calls=(\d+)/.exec(`${await server.send("INFO", "commandstats")}`) ?? [];
    // Each instance asks about the first hundred, whose decisions are not known yet, and later once a second.
    expect(Number(asked)).toBeLessThan(300);
    expect(events).toEqual(["up", "up"]);
  });

  test("a refusal is repeated with the wait that is left, but not after its keys were deleted", async () => {
    const limiter = await open({ limit: 1 });
    await server.send("RPUSH", "roadbook:limit:a", `${Date.now()}`);
    const first = await limiter.consume(placeOf("a"));
    const again = await limiter.consume(placeOf("a"));
    expect([first.allowed, again.allowed]).toEqual([false, false]);
    expect(again.resetMs).toBeWithin(first.resetMs - LATE_MS, first.resetMs + 1);
    await server.send("DEL", "roadbook:limit:a");
    await until(async () => (await limiter.consume(placeOf("a"))).allowed);
  });

  test("the window slides over a long list, even if the store's clock is behind", async () => {
    const limiter = await open({ limit: 1000, windowMs: 60_000 });
    const now = Date.now();
    const past = Array.from({ length: 700 }, (_, i) => `${now - 100_000 + i}`);
    const recent = Array.from({ length: 999 }, (_, i) => `${now - 50_000 + i}`);
    await server.send("RPUSH", "roadbook:limit:a", ...past, ...recent);
    const last = await limiter.consume(placeOf("a"));
    expect(last).toMatchObject({ allowed: true, remaining: 0 });
    expect(last.resetMs).toBeLessThanOrEqual(10_000);
    expect((await limiter.consume(placeOf("a"))).allowed).toBe(false);
    expect(await server.send("LLEN", "roadbook:limit:a")).toBe(1000);

    await server.send("RPUSH", "roadbook:limit:b", `${now + 86_400_000}`);
    const ahead = await limiter.consume(placeOf("b"));
    expect(ahead).toMatchObject({ allowed: true, remaining: 998 });
    expect(ahead.resetMs).toBeWithin(86_460_000 - LATE_MS, 86_460_001);
  });

  test("the reported wait is enough, also for a clock that was set back, and keys expire", async () => {
    const limiter = await open({ limit: 2, windowMs: 50 });
    const ahead = Date.now() + 400;
    await server.send("RPUSH", "roadbook:limit:a", `${ahead}`, `${ahead + 1}`);
    const { allowed, resetMs } = await limiter.consume(placeOf("a"));
    expect(allowed).toBe(false);
    expect(resetMs).toBeGreaterThan(50);
    await Bun.sleep(resetMs + 1);
    expect((await limiter.consume(placeOf("a"))).allowed).toBe(true);
    await until(async () => (await server.send("DBSIZE")) === 0);
  });

  test("after the limit is lowered, clients over the new limit are refused", async () => {
    const limiter = await open({ limit: 5, windowMs: 60_000 });
    const now = Date.now();
    const used = Array.from({ length: 8 }, (_, i) => `${now - 50_000 + 1000 * i}`);
    await server.send("RPUSH", "roadbook:limit:a", ...used);
    // Four of the eight requests must leave the window before there are fewer than five.
    const { resetMs, ...decision } = await limiter.consume(placeOf("a"));
    expect(decision).toEqual({ allowed: false, remaining: 0 });
    expect(resetMs).toBeWithin(13_000 - LATE_MS, 13_001);
  });

  test("with a store that hangs at times, exactly the limit is allowed", async () => {
    const limiter = await open({}, { deadlineMs: 200 });
    let allowed = 0;
    for (const hangs of [false, true, false, true, false]) {
      if (hangs) server.freeze();
      for (let i = 0; i < 7; i++) if ((await limiter.consume(placeOf("a"))).allowed) allowed++;
      // The store now counts the late request, too.
      server.thaw();
      await until(() => limiter.status().up);
    }
    expect(allowed).toBe(30);
    expect(events.slice(0, 3)).toEqual(["up", "down: no response within 200 ms", "up"]);
  });

  test("while the store refuses writes, which is reported once, memory decides", async () => {
    const limiter = await open({ limit: 3 });
    await limiter.consume(placeOf("a"));
    await server.send("CONFIG", "SET", "maxmemory", "1");
    const requests = [1, 2, 3, 4].map(() => limiter.consume(placeOf("a")));
    const allowed = (await Promise.all(requests)).filter(({ allowed }) => allowed);
    expect(allowed).toHaveLength(2);
    const refusals = async () =>
      /OOM:count=(\d+)/.exec(`${await server.send("INFO", "errorstats")}`);
    await until(async () => Number((await refusals())?.[1]) > 6);
    await server.send("CONFIG", "SET", "maxmemory", "0");
    await until(() => limiter.status().up);
    expect(events).toEqual(["up", "down: the store responded with OOM", "up"]);
    await limiter.consume(placeOf("later"));
    expect(await server.send("LLEN", "roadbook:limit:later")).toBe(1);
  });

  test("a store with the flags from compose.yaml keeps its counts when it is killed", async () => {
    const compose = await Bun.file(join(root, "scripts/deploy/compose.yaml")).text();
    const [, flags = ""] = /command: valkey-server (.*)/.exec(compose) ?? [];
    const store = await openRedisServer(undefined, flags.split(" "));
    await (await open({ url: store.url })).consume(placeOf("a"));
    // While the store syncs its file, it responds first and writes up to two seconds later.
    await until(async () =>
      /aof_buffer_length:0\r/.test(`${await store.send("INFO", "persistence")}`),
    );
    await store.kill();
    await store.start();
    expect(await store.send("LLEN", "roadbook:limit:a")).toBe(1);
    await store.kill();
  });

  test("while the store is down, memory decides from its own counts", async () => {
    const limiter = await open({ limit: 3 });
    await limiter.consume(placeOf("a"));
    await limiter.consume(placeOf("a"));
    await server.kill();
    expect((await limiter.consume(placeOf("a"))).remaining).toBe(0);
    expect((await limiter.consume(placeOf("a"))).allowed).toBe(false);
    // The store is known to be down, so the decision is not a promise.
    expect(limiter.consume(placeOf("b"))).toMatchObject({ allowed: true, remaining: 2 });
    expect(limiter.status()).toEqual({ store: "redis", up: false, clients: 2, maxClients: 1000 });
    const late = await open();
    expect(late.consume(placeOf("a"))).toMatchObject({ allowed: true, remaining: 29 });

    await server.start();
    await until(() => limiter.status().up && late.status().up);
    expect(limiter.consume(placeOf("a"))).toBeInstanceOf(Promise);
    const down = expect.stringMatching(/^down: /);
    expect(events).toEqual(["up", down, down, "up", "up"]);
  });

  test("a closed limiter decides in memory and does not reconnect", async () => {
    const limiter = await open({}, { retryMs: 1 });
    await limiter.consume(placeOf("a"));
    limiter[Symbol.dispose]();
    limiter[Symbol.dispose]();
    expect(limiter.consume(placeOf("a"))).toMatchObject({ remaining: 28 });
    await Bun.sleep(30);
    expect(limiter.status().up).toBe(false);
    expect(events).toEqual(["up"]);
  });

  test("a user needs only the rights of the script, and no message has a password", async () => {
    const rights = "+eval +time +lindex +llen +ltrim +rpush +pexpireat".split(" ");
    await server.send("ACL", "SETUSER", "counter", "on", ">secret", "~roadbook:limit:*", ...rights);
    const limiter = await open({ url: server.url.replace("//", "//counter:secret@") });
    expect((await limiter.consume(placeOf("a"))).remaining).toBe(29);
    await open({ url: server.url.replace("//", "//counter:wrong@") });
    expect(events).toEqual(["up", "down: the store responded with WRONGPASS"]);
  });

  test("a process that lags keeps using the store, and the budget stays exact", async () => {
    const deadlineMs = 200;
    const three = await Promise.all([1, 2, 3].map(() => open({ limit: 7 }, { deadlineMs })));
    let allowed = 0;
    for (let round = 0; round < 3; round++) {
      const requests = three.map((limiter) => limiter.consume(placeOf("a")));
      // No reply is read during this time.
      Bun.sleepSync(1.2 * deadlineMs);
      for (const decision of await Promise.all(requests)) if (decision.allowed) allowed++;
    }
    expect([allowed, events]).toEqual([7, ["up", "up", "up"]]);
  });
});

test.skipIf(skipped)(
  "a server takes the store from the environment, and says when it is down",
  async () => {
    const store = await openRedisServer("sesame");
    const guide = await Bun.file(join(root, "scripts/deploy/machines.md")).text();
    const [, name = "", written = ""] =
      /^(ROADBOOK_RATE_LIMIT_STORE)=(redis:\S+)$/m.exec(guide) ?? [];
    const url = written
      .replace("password", "sesame")
      .replace("10.0.0.5:6379", new URL(store.url).host);
    expect(url).toBe(store.url);
    let log = "";
    const server = await openExecutable([], (text) => (log += text), { [name]: url });
    const isUp = async () => {
      const health = await (await server.fetch("/health")).text();
      expect(health).not.toContain("sesame");
      const { store, up } = JSON.parse(health).search_limit;
      expect(store).toBe("redis");
      return up;
    };
    await until(isUp);
    await store.kill();
    await until(async () => !(await isUp()));
    const response = await server.fetch("/search/users?q=an");
    expect(response.headers.get("x-ratelimit-remaining")).toBe("29");
    const downLine = /^\{.*"msg":"rate limit store down, counting in memory".*$/m;
    await until(() => downLine.test(log));
    const [down = ""] = downLine.exec(log) ?? [];
    expect(JSON.parse(down)).toMatchObject({ level: "warn", reason: expect.any(String) });
    await store.start();
    await until(isUp);
    await until(() => Number(log.match(/rate limit store up/g)?.length) > 1);
    await Promise.all([server.close(), store.kill()]);
    expect(log).not.toContain("sesame");
  },
);

test.skipIf(skipped).each([
  ["good", "IP:127.0.0.1", true, undefined],
  ["not trusted", "IP:127.0.0.1", false, "DEPTH_ZERO_SELF_SIGNED_CERT"],
  ["for another host", "DNS:elsewhere.example", true, "ERR_TLS_CERT_ALTNAME_INVALID"],
])("a rediss:// store whose certificate is %s", async (_, host, isTrusted, code) => {
  const { cert, key } = await makeCertificate(host);
  const port = findFreePort();
  const store = await openRedisServer(undefined, [
    ...["--tls-port", `${port}`, "--tls-auth-clients", "no", "--tls-ca-cert-file", cert],
    ...["--tls-cert-file", cert, "--tls-key-file", key],
  ]);
  const flags = ["--rate-limit-store", `rediss://127.0.0.1:${port}`];
  const env = isTrusted ? { NODE_EXTRA_CA_CERTS: cert } : {};
  let log: string;
  do {
    log = "";
    const server = await openExecutable(flags, (text) => (log += text), env);
    await server.close();
    // On a busy machine, a handshake may take longer than a server waits for it.
  } while (log.includes("no response within"));
  await store.kill();
  expect(/cannot connect \((\w+)\)/.exec(log)?.[1]).toBe(code);
  expect(log.includes("rate limit store up")).toBe(code === undefined);
});
