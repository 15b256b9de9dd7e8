/** The search limit through the executable: proxies, IPv6 groups, and one budget over machines. */
import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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

const remaining = async (target: Target, forwardedFor?: string) => {
  const headers = forwardedFor === undefined ? {} : { "x-forwarded-for": forwardedFor };
  const response = await target.fetch("/search/users?q=an", { headers });
  return response.headers.get("x-ratelimit-remaining");
};

test("without --trusted-proxy nobody buys a budget with X-Forwarded-For", async () => {
  const target = await openExecutable(["--search-limit", "3"]);
  expect(await remaining(target, "192.0.2.1")).toBe("2");
  expect(await remaining(target, "192.0.2.2")).toBe("1");
  expect(await remaining(target)).toBe("0");
  await target.close();
});

test("behind trusted proxies the rightmost address that is not one is the client", async () => {
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

test("--ipv6-prefix and --max-clients are what is used", async () => {
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

test("a kiosk does not count the searches of its own screen, only those of other machines", async () => {
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
    // Through a proxy on the machine: counted, also by a server that has not been told of it.
    expect(await remaining(target, "192.0.2.1")).toBe("1");
    await target.fetch("/?q=an", { headers: { "x-forwarded-for": "192.0.2.1" } });
    expect(await remaining(target, "192.0.2.1")).toBe("0");
  }
  expect(await remaining(proxied, "127.0.0.1")).toBeNull();
  expect(await remaining(screen, "127.0.0.1")).toBe("0");
  await Promise.all([screen.close(), proxied.close()]);
});

const isRequired = process.env.ROADBOOK_REQUIRE_ALL === "1";
const hasNginx = Bun.which("nginx", { PATH: `${process.env.PATH}:/usr/sbin` }) !== null;
if (!hasNginx) console.warn("nginx is missing: its configuration is not tried");
if (!hasRedisServer()) console.warn("redis-server is missing: the shared store is not tried");

const deploy = (file: string) => Bun.file(join(root, "scripts/deploy", file)).text();

test("several lines of X-Forwarded-For are read as one", async () => {
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

/** nginx with what goes into its http block, on ports of this test, in a folder of its own. */
async function openNginx(http: string) {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "logs"));
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join(" ");
  const config = `daemon off; pid ${folder}/pid; error_log ${folder}/logs/error.log; events {}
http { access_log off; ${paths}\n${http}\n}`;
  writeFileSync(join(folder, "nginx.conf"), config);
  const child = Bun.spawn(["nginx", "-p", folder, "-c", join(folder, "nginx.conf")], {
    env: { PATH: `${process.env.PATH}:/usr/sbin` },
    stderr: "pipe",
  });
  return {
    async close() {
      child.kill("SIGTERM");
      await child.exited;
    },
  };
}

test.if(hasNginx || isRequired)(
  "nginx as in scripts/deploy hands on who the client is",
  async () => {
    const [, flags = ""] =
      /`roadbook serve (--trusted-proxy [^`]*)`/.exec(await deploy("README.md")) ?? [];
    const target = await openExecutable(["--search-limit", "3", ...flags.split(" ")]);
    const port = findFreePort();
    const nginx = await openNginx(
      (await deploy("nginx.conf"))
        .replace("127.0.0.1:3000", new URL(target.origin).host)
        .replace(/^.*(443|ssl_|server_name).*\n/gm, "")
        .replace("server {", `server {\n  listen 127.0.0.1:${port};\n  listen [::1]:${port};`),
    );
    const origin = `http://127.0.0.1:${port}`;
    // From an address that is not the proxy's own, as a client would.
    const ask = async (forwardedFor?: string) => {
      const headers = forwardedFor === undefined ? [] : ["-H", `X-Forwarded-For: ${forwardedFor}`];
      const from = ["-s", "-D", "-", "-o", "/dev/null", "--interface", "127.0.0.2"];
      const { stdout } = await run(["curl", ...from, ...headers, `${origin}/search/users?q=an`]);
      return /^x-ratelimit-remaining: (\d+)/im.exec(stdout)?.[1];
    };
    await until(() => fetch(origin).catch(() => undefined));
    // What a client claims of itself does not count: nginx says who it is.
    expect(await ask()).toBe("2");
    expect(await ask("203.0.113.9")).toBe("1");
    expect(await ask("127.0.0.1")).toBe("0");
    const { user } = JSON.parse(await (await fetch(`${origin}/users/public/42`)).text());
    expect(user.name).toBe("Łukasz Nowak");
    const { headers } = await fetch(`${origin}/health`, { headers: { "x-request-id": "mine" } });
    expect(headers.get("x-request-id")).toMatch(/^[\da-f]{32}$/); // nginx's own
    await nginx.close();
    await target.close();
  },
  30_000,
);

describe.if(hasRedisServer() || isRequired)("with a shared store", () => {
  test("three instances give exactly 30, and health says who counts", async () => {
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
    const asked = targets.flatMap((target) =>
      Array.from({ length: 20 }, async () => (await target.fetch("/search/users?q=an")).status),
    );
    const statuses = await Promise.all(asked);
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
