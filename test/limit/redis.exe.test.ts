/**
 * The shared store that src/limit/README.md describes: instances share one exact budget through the
 * store, and decide on their own while the store is down.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Limiter } from "../../src/limit/limiter.ts";
import { openSharedLimiter, type SharedLimiterOptions } from "../../src/limit/redis.ts";
import {
  findFreePort,
  openExecutable,
  root,
  run,
  type Target,
  temporaryFolder,
  until,
} from "../support.ts";
import { hasRedisServer, openRedisServer } from "./redis-server.ts";

const isEmpty = (reply: unknown) => Array.isArray(reply) && reply.length === 0;

/** The maximum time that a test may take after its first request. */
const LATE_MS = 10_000;
/** A deadline that a store on a machine under load misses only if it does not respond at all. */
const DEADLINE_MS = 5000;

/** Opens a proxy in front of a store. The proxy delays every reply by `delayMs`. */
function openSlowProxy(url: string) {
  const { hostname, port } = new URL(url);
  const proxy = { url: "", delayMs: 0, close: () => listener.stop(true) };
  const listener = Bun.listen<Promise<Bun.Socket>>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(client) {
        const data = async (_: Bun.Socket, chunk: Buffer) => {
          const reply = Buffer.from(chunk);
          await Bun.sleep(proxy.delayMs);
          client.write(reply);
        };
        client.data = Bun.connect({ hostname, port: Number(port), socket: { data } });
      },
      async data(client, chunk) {
        const request = Buffer.from(chunk);
        (await client.data).write(request);
      },
      async close(client) {
        (await client.data).end();
      },
    },
  });
  proxy.url = `redis://127.0.0.1:${listener.port}`;
  return proxy;
}

const required = process.env.ROADBOOK_REQUIRE_ALL === "1";
const skipped = !hasRedisServer() && !required;
if (skipped) console.log("skipped: the tests of the shared limit need redis-server on the PATH");

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
      deadlineMs: DEADLINE_MS,
      connectMs: DEADLINE_MS,
      retryMs: 20,
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

  test("three instances together allow exactly 30 of 90 requests, and count down to 0", async () => {
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

  test("a refused client is allowed after resetMs, and keys expire with the window", async () => {
    const limiter = await open({ limit: 2, windowMs: 300 });
    const first = await limiter.consume("a");
    const second = await limiter.consume("a");
    const third = await limiter.consume("a");
    expect([first, second, third].map(({ allowed }) => allowed)).toEqual([true, true, false]);
    await Bun.sleep(third.resetMs + 1);
    expect((await limiter.consume("a")).allowed).toBe(true);
    await until(async () => isEmpty(await server.send("KEYS", "roadbook:limit:*")));
  });

  test("the window slides over a long list, even if the store's clock is behind", async () => {
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
    const ahead = await limiter.consume("b");
    expect(ahead).toMatchObject({ allowed: true, remaining: 998 });
    expect(ahead.resetMs).toBeGreaterThan(86_460_000 - LATE_MS);
    expect(ahead.resetMs).toBeLessThanOrEqual(86_460_000);
  });

  test("after the store's clock is set back, the reported wait is still long enough", async () => {
    const limiter = await open({ limit: 2, windowMs: 300 });
    const ahead = Date.now() + 300;
    await server.send("RPUSH", "roadbook:limit:a", `${ahead}`, `${ahead + 1}`);
    const { allowed, resetMs } = await limiter.consume("a");
    expect(allowed).toBe(false);
    expect(resetMs).toBeGreaterThan(300);
    await Bun.sleep(resetMs + 1);
    expect((await limiter.consume("a")).allowed).toBe(true);
  });

  test("after the limit is lowered, clients over the new limit are refused", async () => {
    const limiter = await open({ limit: 5, windowMs: 60_000 });
    const now = Date.now();
    const used = Array.from({ length: 8 }, (_, i) => `${now - 50_000 + 1000 * i}`);
    await server.send("RPUSH", "roadbook:limit:a", ...used);
    // Four of the eight requests must leave the window before there are fewer than five.
    const { resetMs, ...decision } = await limiter.consume("a");
    expect(decision).toEqual({ allowed: false, limit: 5, remaining: 0 });
    expect(resetMs).toBeGreaterThan(13_000 - LATE_MS);
    expect(resetMs).toBeLessThanOrEqual(13_000);
    await limiter.consume("b");
    expect(await server.send("LLEN", "roadbook:limit:b")).toBe(1);
    expect([events, limiter.status().up]).toEqual([["up"], true]);
  });

  test("with a store that is sometimes late, exactly the limit is allowed", async () => {
    const slow = openSlowProxy(server.url);
    const limiter = await open({ url: slow.url, deadlineMs: 500 });
    let allowed = 0;
    for (const delayMs of [0, 1000, 0, 1000, 0]) {
      await until(() => limiter.status().up);
      slow.delayMs = delayMs;
      for (let i = 0; i < 7; i++) if ((await limiter.consume("a")).allowed) allowed++;
      // Lets the store recover.
      slow.delayMs = 0;
    }
    expect(allowed).toBe(30);
    expect(events.slice(0, 3)).toEqual(["up", "down: no response within 500 ms", "up"]);
    slow.close();
  });

  test.each([
    ["maxmemory", "1", "0", "OOM"],
    ["min-replicas-to-write", "1", "0", "NOREPLICAS"],
  ])(
    "while %s lets the store refuse writes, each instance counts in its own memory",
    async (setting, refusing, accepting, code) => {
      const limiter = await open({ limit: 3 });
      await limiter.consume("a");
      await server.send("CONFIG", "SET", setting, refusing);
      try {
        const requests = [1, 2, 3, 4].map(() => limiter.consume("a"));
        const allowed = (await Promise.all(requests)).filter(({ allowed }) => allowed);
        expect(allowed).toHaveLength(2);
        await Bun.sleep(100); // Enough time for retries, whose failures are not reported.
        expect(events).toEqual(["up", `down: the store responded with ${code}`]);
      } finally {
        await server.send("CONFIG", "SET", setting, accepting);
      }
      await until(() => limiter.status().up);
      await limiter.consume("later");
      expect(await server.send("LLEN", "roadbook:limit:later")).toBe(1);
    },
  );

  test("if the store loses its counts, an instance still gives no client more than the limit", async () => {
    const limiter = await open();
    for (let i = 0; i < 30; i++) await limiter.consume("a");
    await server.kill();
    await server.start();
    await until(() => limiter.status().up);
    expect(await limiter.consume("a")).toMatchObject({ allowed: false, remaining: 0 });
    expect(await server.send("EXISTS", "roadbook:limit:a")).toBe(0);
    expect((await limiter.consume("b")).remaining).toBe(29);
  });

  test("a store with the flags from compose.yaml keeps its counts when it is killed", async () => {
    const compose = await Bun.file(join(root, "scripts/deploy/compose.yaml")).text();
    const [, flags = ""] = /command: valkey-server (.*)/.exec(compose) ?? [];
    const store = await openRedisServer(undefined, flags.split(" "));
    try {
      const { url } = store;
      const [first, second] = [await open({ url }), await open({ url })];
      for (let i = 0; i < 30; i++) await first.consume("a");
      await store.kill();
      await until(() => !first.status().up && !second.status().up);
      await store.start();
      await until(() => second.status().up);
      expect(await second.consume("a")).toMatchObject({ allowed: false, remaining: 0 });
      expect(events.filter((event) => event.startsWith("warning"))).toEqual([]);
    } finally {
      await store.close();
    }
  });

  test("a store whose scripts were flushed gets the script again", async () => {
    const limiter = await open();
    await server.send("SCRIPT", "FLUSH");
    const decisions = await Promise.all([1, 2, 3].map(() => limiter.consume("a")));
    expect(decisions.map(({ remaining }) => remaining)).toEqual([29, 28, 27]);
    expect(limiter.status()).toEqual({ store: "redis", up: true, clients: 1 });
  });

  test("while the store is down, memory decides from its own counts", async () => {
    const limiter = await open({ limit: 3 });
    await limiter.consume("a");
    await limiter.consume("a");
    await server.kill();
    expect((await limiter.consume("a")).remaining).toBe(0);
    expect((await limiter.consume("a")).allowed).toBe(false);
    // The store is known to be down, so the decision is not a promise.
    expect(limiter.consume("b")).toMatchObject({ allowed: true, remaining: 2 });
    expect(limiter.status()).toEqual({ store: "redis", up: false, clients: 2 });

    await server.start();
    await until(() => limiter.status().up);
    expect(limiter.consume("a")).toBeInstanceOf(Promise);
    expect(events).toEqual(["up", expect.stringMatching(/^down: /), "up"]);
  });

  test("while the store is suspended, all decisions are made in memory", async () => {
    const limiter = await open({ deadlineMs: 500, connectMs: 100 });
    await limiter.consume("a");
    server.freeze();
    const decisions = await Promise.all(Array.from({ length: 20 }, () => limiter.consume("a")));
    expect(decisions.map(({ remaining }) => remaining)).toEqual(
      Array.from({ length: 20 }, (_, i) => 28 - i),
    );
    expect(limiter.consume("a")).toMatchObject({ remaining: 8 });
    await Bun.sleep(300); // Enough time for retries, which fail.
    expect(limiter.status().up).toBe(false);

    server.thaw();
    await until(() => limiter.status().up);
    expect(events).toEqual(["up", "down: no response within 500 ms", "up"]);
  });

  test("a store that is down at the start is retried in the background", async () => {
    await server.kill();
    const limiter = await open();
    expect(limiter.consume("a")).toMatchObject({ allowed: true, remaining: 29 });
    await Bun.sleep(100); // Enough time for retries, whose failures are not reported.
    expect(events).toEqual([expect.stringMatching(/^down: /)]);
    await server.start();
    await until(() => limiter.status().up);
    expect(events.at(-1)).toBe("up");
  });

  test("a closed limiter decides in memory and does not reconnect", async () => {
    const limiter = await open();
    await limiter.consume("a");
    limiter.close();
    limiter.close();
    expect(limiter.consume("a")).toMatchObject({ remaining: 28 });
    await Bun.sleep(100); // Enough time to reconnect.
    expect(limiter.status().up).toBe(false);
    expect(events).toEqual(["up"]);
  });

  test("a wrong password is reported, and no message contains any password", async () => {
    const guarded = await openRedisServer("correct-horse");
    try {
      await open({ url: guarded.url });
      expect(events.splice(0)).toEqual(["up"]);
      for (const [url, reason] of [
        [guarded.url.replace("correct", "battery"), "the store responded with WRONGPASS"],
        [guarded.url.replace(":correct", "nobody:correct"), "the store responded with WRONGPASS"],
        [guarded.url.replace(":correct-horse@", ""), "the store responded with NOAUTH"],
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

  test("a store user needs only the rights to run the script's commands", async () => {
    const rights = "+eval +evalsha +time +lindex +llen +ltrim +rpush +pexpireat".split(" ");
    await server.send("ACL", "SETUSER", "counter", "on", ">secret", "~roadbook:limit:*", ...rights);
    const limiter = await open({ url: server.url.replace("//", "//counter:secret@") });
    expect((await limiter.consume("a")).remaining).toBe(29);
    expect(events).toEqual(["up"]);
  });

  test("a process that lags keeps using the store, and the budget stays exact", async () => {
    const deadlineMs = 300;
    const three = await Promise.all([1, 2, 3].map(() => open({ limit: 7, deadlineMs })));
    let allowed = 0;
    for (let round = 0; round < 4; round++) {
      const requests = three.map((limiter) => limiter.consume("a"));
      // No reply is read during this time.
      Bun.sleepSync(1.2 * deadlineMs);
      for (const decision of await Promise.all(requests)) if (decision.allowed) allowed++;
    }
    expect([allowed, events]).toEqual([7, ["up", "up", "up"]]);
  });
});

test.skipIf(skipped)(
  "servers share a store from the environment, and say when it is down",
  async () => {
    const store = await openRedisServer("sesame");
    const guide = await Bun.file(join(root, "scripts/deploy/README.md")).text();
    const [, name = "", written = ""] =
      /^(ROADBOOK_RATE_LIMIT_STORE)=(redis:\S+)$/m.exec(guide) ?? [];
    const url = written
      .replace("password", "sesame")
      .replace("10.0.0.5:6379", new URL(store.url).host);
    expect(url).toBe(store.url);
    let log = "";
    const flags = ["--trusted-proxy", "127.0.0.1"];
    const [one, other] = await Promise.all(
      [1, 2].map(() => openExecutable(flags, (text) => (log += text), { [name]: url })),
    );
    if (!one || !other) throw new Error("no servers");
    const remaining = async (target: Target, client: string) => {
      const headers = { "x-forwarded-for": client };
      const response = await target.fetch("/search/users?q=an", { headers });
      return response.headers.get("x-ratelimit-remaining");
    };
    // A server that misses the store's deadline of 50 ms counts on its own until it has connected
    // again, so a machine under load needs another try, with another client.
    let client = 0;
    await until(async () => {
      const address = `192.0.2.${++client}`;
      const counts = [];
      for (const target of [one, other, one]) counts.push(await remaining(target, address));
      return counts.join() === "29,28,27";
    });
    const storeOf = async (target: Target) => {
      const health = await (await target.fetch("/health")).text();
      expect(health).not.toContain("sesame");
      return JSON.parse(health).search_limit;
    };
    const linesWith = (msg: string) =>
      log.split("\n").filter((line) => line.startsWith("{") && line.includes(`"msg":"${msg}`));
    await until(async () => (await storeOf(one)).up);
    expect(await storeOf(one)).toEqual({ store: "redis", up: true });
    await store.kill();
    await until(async () => !(await storeOf(one)).up);
    expect(await remaining(one, "198.51.100.1")).toBe("29");
    const [down = "{}"] = linesWith("rate limit store down, counting in memory");
    expect(JSON.parse(down)).toMatchObject({ level: 40, reason: expect.any(String) });
    const before = linesWith("rate limit store up").length;
    await store.start();
    await until(async () => (await storeOf(one)).up);
    await until(() => linesWith("rate limit store up").length > before);
    await Promise.all([one.close(), other.close(), store.close()]);
    expect(log).not.toContain("sesame");
  },
);

describe.skipIf(skipped)("a rediss:// store", async () => {
  if (skipped) return;
  const folder = temporaryFolder();
  const path = (file: string) => join(folder, file);
  const openssl = async (...words: string[]) => {
    const { code, stderr } = await run(["openssl", ...words], { cwd: folder });
    if (code !== 0) throw new Error(stderr);
  };
  const key = ["-newkey", "rsa:2048", "-nodes"];
  const request = async (name: string) =>
    openssl("req", ...key, "-keyout", `${name}.key`, "-out", `${name}.csr`, "-subj", `/CN=${name}`);

  /**
   * Creates a certificate that is signed by the test's authority, or self-signed if `name` is
   * "self".
   */
  async function certify(name: string, host: string, days = "1"): Promise<void> {
    writeFileSync(path("extensions"), `subjectAltName=${host}`);
    await request(name);
    const authority = ["-CA", "authority.crt", "-CAkey", "authority.key", "-CAcreateserial"];
    const signer = name === "self" ? ["-signkey", "self.key"] : authority;
    const files = ["-in", `${name}.csr`, "-out", `${name}.crt`, "-extfile", "extensions"];
    await openssl("x509", "-req", ...signer, ...files, "-days", days);
  }

  beforeAll(async () => {
    const files = ["-keyout", "authority.key", "-out", "authority.crt"];
    await openssl("req", "-x509", ...key, ...files, "-subj", "/CN=authority");
    await certify("good", "IP:127.0.0.1");
    await certify("elsewhere", "DNS:elsewhere.example");
    await certify("expired", "IP:127.0.0.1", "-1");
    await certify("self", "IP:127.0.0.1");
  });

  test.each([
    ["good", "good", true, undefined],
    ["signed by an unknown authority", "good", false, "SELF_SIGNED_CERT_IN_CHAIN"],
    ["self-signed", "self", true, "DEPTH_ZERO_SELF_SIGNED_CERT"],
    ["expired", "expired", true, "CERT_HAS_EXPIRED"],
    ["for another host", "elsewhere", true, "ERR_TLS_CERT_ALTNAME_INVALID"],
  ])("whose certificate is %s", async (_, name, isTrusted, code) => {
    const port = findFreePort();
    const files = ["--tls-cert-file", path(`${name}.crt`), "--tls-key-file", path(`${name}.key`)];
    const store = await openRedisServer(undefined, [
      ...["--tls-port", `${port}`, "--tls-ca-cert-file", path("authority.crt")],
      ...["--tls-auth-clients", "no", ...files],
    ]);
    let log = "";
    const target = await openExecutable(
      ["--rate-limit-store", `rediss://127.0.0.1:${port}`],
      (text) => {
        log += text;
      },
      isTrusted ? { NODE_EXTRA_CA_CERTS: path("authority.crt") } : {},
    );
    await target.close();
    await store.close();
    const lines = log
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.find(({ msg }) => msg.startsWith("rate limit store down"))?.reason).toBe(
      code && `cannot connect (${code})`,
    );
    expect(log.includes("rate limit store up")).toBe(code === undefined);
  });
});
