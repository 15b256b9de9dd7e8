/** The search limit in the executable: proxies, IPv6 networks, and a shared budget. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { openExecutable, root, run, type Target } from "../support.ts";
import { hasRedisServer, openRedisServer } from "./redis-server.ts";

const remaining = async (target: Target, forwardedFor?: string) => {
  const headers = forwardedFor === undefined ? {} : { "x-forwarded-for": forwardedFor };
  const response = await target.fetch("/search/users?q=an", { headers });
  return response.headers.get("x-ratelimit-remaining");
};

test("without --trusted-proxy, X-Forwarded-For does not change the client", async () => {
  const target = await openExecutable(["--search-limit", "3"]);
  expect(await remaining(target, "192.0.2.1")).toBe("2");
  expect(await remaining(target, "192.0.2.2")).toBe("1");
  expect(await remaining(target)).toBe("0");
  await target.close();
});

test("behind trusted proxies, the rightmost untrusted address is the client", async () => {
  const proxies = ["--trusted-proxy", "127.0.0.0/8", "--trusted-proxy", "10.0.0.0/8"];
  const target = await openExecutable(["--search-limit", "3", ...proxies]);
  expect(await remaining(target, "192.0.2.1")).toBe("2");
  expect(await remaining(target, "198.51.100.7, 192.0.2.1, 10.1.2.3")).toBe("1");
  expect(await remaining(target, "::ffff:192.0.2.1")).toBe("0");
  expect(await remaining(target, "192.0.2.2")).toBe("2");
  expect(await remaining(target, "2001:db8:1:2::1")).toBe("2");
  expect(await remaining(target, "2001:db8:1:2:ffff::9")).toBe("1");
  expect(await remaining(target, "2001:db8:1:3::1")).toBe("2");
  await target.close();
});

test("--ipv6-prefix and --max-clients take effect", async () => {
  const target = await openExecutable([
    "--search-limit",
    "9",
    "--trusted-proxy",
    "127.0.0.1",
    "--ipv6-prefix",
    "48",
    "--max-clients",
    "1",
  ]);
  expect(await remaining(target, "2001:db8:1:2::1")).toBe("8");
  expect(await remaining(target, "2001:db8:1:3::1")).toBe("7");
  expect(await remaining(target, "192.0.2.9")).toBe("6");
  await target.close();
});

test("clients named with --unlimited are not counted, by address and not by network", async () => {
  const target = await openExecutable([
    ...["--search-limit", "2", "--trusted-proxy", "127.0.0.1"],
    ...["--unlimited", "192.0.2.0/24", "--unlimited", "2001:db8::7"],
  ]);
  expect(await remaining(target, "192.0.2.9")).toBeNull();
  expect(await remaining(target, "2001:db8::7")).toBeNull();
  expect(await remaining(target, "2001:db8::8")).toBe("1");
  expect(await remaining(target, "64:ff9b::192.0.2.9")).toBe("1");
  expect(await remaining(target, "192.0.2.9, 203.0.113.1")).toBe("1");
  await target.close();
});

test("a kiosk counts searches from other machines, but not from its own screen", async () => {
  const behind = ["--trusted-proxy", "127.0.0.1"];
  const [screen, proxied] = [
    await openExecutable(["--kiosk", "--search-limit", "2"]),
    await openExecutable(["--kiosk", "--search-limit", "2", ...behind]),
  ];
  for (const target of [screen, proxied]) {
    for (let times = 0; times < 4; times++) {
      const search = await target.fetch("/search/users?q=an");
      expect([search.status, search.headers.get("ratelimit")]).toEqual([200, null]);
      expect(await (await target.fetch("/?q=an")).text()).toContain("/drivers/");
    }
    // Searches through a proxy on this machine are counted, even if the server does not trust the
    // proxy.
    expect(await remaining(target, "192.0.2.1")).toBe("1");
    await target.fetch("/?q=an", { headers: { "x-forwarded-for": "192.0.2.1" } });
    expect(await remaining(target, "192.0.2.1")).toBe("0");
  }
  expect(await remaining(proxied, "127.0.0.1")).toBeNull();
  expect(await remaining(screen, "127.0.0.1")).toBe("0");
  await Promise.all([screen.close(), proxied.close()]);
});

const isRequired = process.env.ROADBOOK_REQUIRE_ALL === "1";
if (!hasRedisServer())
  console.warn("redis-server is missing: tests of the shared store are skipped");

const deploy = (file: string) => Bun.file(join(root, "scripts/deploy", file)).text();

test("several X-Forwarded-For lines are joined", async () => {
  const target = await openExecutable([
    "--search-limit",
    "3",
    "--trusted-proxy",
    "127.0.0.1",
    "--trusted-proxy",
    "10.0.0.0/8",
  ]);
  const lines = ["-H", "X-Forwarded-For: 192.0.2.1", "-H", "X-Forwarded-For: 10.0.0.9"];
  const { stdout } = await run([
    "curl",
    "-s",
    "-D",
    "-",
    ...lines,
    `${target.origin}/search/users?q=an`,
  ]);
  expect(stdout).toMatch(/^x-ratelimit-remaining: 2\r/im);
  expect(await remaining(target, "192.0.2.1")).toBe("1");
  await target.close();
});

describe.if(hasRedisServer() || isRequired)("a shared store", () => {
  test("three instances together allow exactly 30 searches, and /health shows the store", async () => {
    const redis = await openRedisServer("sesame");
    const [, name = "", url = ""] =
      /^(ROADBOOK_RATE_LIMIT_STORE)=(redis:\S+)$/m.exec(await deploy("README.md")) ?? [];
    const written = url
      .replace("password", "sesame")
      .replace("10.0.0.5:6379", new URL(redis.url).host);
    expect(written).toBe(redis.url);
    const targets = await Promise.all(
      [1, 2, 3].map(() => openExecutable([], undefined, { [name]: written })),
    );
    const searches = targets.flatMap((target) =>
      Array.from({ length: 20 }, async () => (await target.fetch("/search/users?q=an")).status),
    );
    const statuses = await Promise.all(searches);
    expect(statuses.filter((status) => status === 200)).toHaveLength(30);
    expect(statuses.filter((status) => status === 429)).toHaveLength(30);

    const store = async () =>
      Promise.all(
        targets.map(async (target) => {
          const health = await (await target.fetch("/health")).text();
          expect(health).not.toContain("sesame");
          return JSON.parse(health).search_limit;
        }),
      );
    expect(await store()).toEqual(Array(3).fill({ store: "redis", up: true }));
    await redis.kill();
    for (const target of targets) {
      expect((await target.fetch("/users/public/42")).status).toBe(200);
      expect((await target.fetch("/search/users?q=an")).status).toBeOneOf([200, 429]);
    }
    expect(await store()).toEqual(Array(3).fill({ store: "redis", up: false }));
    for (const target of targets) await target.close();
    await redis.close();
  }, 30_000);
});
