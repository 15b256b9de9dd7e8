/** The proxies that the guide configures, real and each in front of the executable. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  findFreePort,
  openExecutable,
  openLogged,
  root,
  run,
  underLoad,
  until,
} from "../support.ts";
import { caddyWith, hasProxy, nginxWith, openProxy, proxies } from "./proxies.ts";

const page = readFileSync(join(root, "scripts/deploy/proxies.md"), "utf8");

const setting = "/proc/sys/net/ipv4/tcp_migrate_req";
const migratesConnections = existsSync(setting) && readFileSync(setting, "utf8").trim() === "1";

/** Opens a server that the proxy on this machine may speak for, with an admin port. */
async function openTrusting(...more: string[]) {
  const words = ["--trusted-proxy", "127.0.0.1", "--admin-port", "0", "--fault", "none"];
  const target = await openLogged([...words, ...more]);
  const admin = await until(() => /"adminUrl":"([^"]+)/.exec(target.log())?.[1]);
  const { hostname, port } = new URL(target.origin);
  return { ...target, admin, hostname, port };
}

async function curl(...words: string[]): Promise<string> {
  return (await run(["curl", "-s", ...words])).stdout;
}

/** Searches from a loopback address. Returns the number of searches left. */
async function search(origin: string, from: string, ...headers: string[]) {
  const sent = headers.flatMap((header) => ["-H", header]);
  const text = await curl("-i", "--interface", from, ...sent, `${origin}/search/users?q=an`);
  return Number(/^x-ratelimit-remaining: (\d+)/im.exec(text)?.[1]);
}

describe.each(Object.entries(proxies))("%s", (name, proxy) => {
  test.if(hasProxy(proxy))(
    "passes on what the guide says, and counts each search once",
    async () => {
      // The guide has no way for nghttpx to drop a forged host.
      const flags = name === "nghttpx" ? ["--public-url", "https://api.example.org"] : [];
      const target = await openTrusting(...flags);
      const ports = { listen: findFreePort(), upstream: Number(target.port) };
      const { origin, close } = await openProxy(proxy, ports);

      // Clients are counted by the address that the proxy sees, whatever they claim.
      expect(await search(origin, "127.0.0.2", "X-Forwarded-For: 203.0.113.9")).toBe(29);
      expect(await search(origin, "127.0.0.2", "X-Forwarded-For: 127.0.0.3")).toBe(28);
      expect(await search(origin, "127.0.0.3")).toBe(29);

      const profile = `${origin}/users/public/42`;
      for (const proto of ["http", "https", "ftp"]) {
        const headers = { "x-forwarded-host": "forged.example", "x-forwarded-proto": proto };
        const { user } = JSON.parse(await (await fetch(profile, { headers })).text());
        const base = flags.length > 0 ? "https://api.example.org" : origin;
        expect(user.avatar_url).toBe(`${base}/avatars/42.svg`);
      }

      for (const path of ["/users/public/42", "/users/42/achievements", "/health?"]) {
        for (const coding of ["gzip", "identity"]) {
          const headers = { "accept-encoding": coding };
          const first = await fetch(origin + path, { headers });
          const etag = first.headers.get("etag");
          await first.text();
          if (path === "/health?") expect(etag).toBeNull();
          if (etag === null) continue;
          const again = await fetch(origin + path, {
            headers: { ...headers, "if-none-match": etag },
          });
          expect([path, coding, again.status]).toEqual([path, coding, 304]);
        }
      }

      // Roadbook responds, and not the proxy.
      const slash = await curl(`${origin}/icons/a%2Fb.svg`);
      expect(JSON.parse(slash).error.code).toBe("route_not_found");
      const status = await curl(
        ...["--globoff", "-o", "/dev/null", "-w", "%{http_code}", "--interface", "127.0.0.5"],
        `${origin}/search/users?q=Łuk`,
      );
      const row = page.split("\n").find((line) => line.startsWith(`| ${name} |`));
      expect(row).toContain(status === "200" ? "| passed on |" : `| ${status} |`);

      // Several connections have been used before, when an answer is lost.
      for (let times = 0; times < 3; times++) {
        await Promise.all(Array.from({ length: 6 }, () => curl(`${origin}/health`)));
      }
      const put = (faults: string[]) =>
        fetch(`${target.admin}/faults`, { method: "PUT", body: JSON.stringify(faults) });
      const before = await search(origin, "127.0.0.4");
      await put(["search:close"]);
      await search(origin, "127.0.0.4");
      await put([]);
      expect(await search(origin, "127.0.0.4")).toBe(before - 2);

      await close();
      await target.close();
    },
  );

  test.if(hasProxy(proxy))("during a restart, behaves as the guide says", async () => {
    const words = ["--trusted-proxy", "127.0.0.1"];
    let target = await openExecutable(words);
    const { port } = new URL(target.origin);
    const ports = { listen: findFreePort(), upstream: Number(port) };
    const { origin, close } = await openProxy(proxy, ports);
    const profile = `${origin}/users/public/42`;
    const getStatus = async () => (await fetch(profile)).status;

    const restart = async () => {
      await target.close();
      target = await openExecutable([...words, "--port", port]);
      await until(async () => (await getStatus()) === 200);
    };
    const statuses = await underLoad(getStatus, restart);
    expect([...statuses]).toContain(200);
    const refusals = [502, 503].filter((status) => statuses.has(status));
    expect(statuses.size).toBe(1 + refusals.length);
    if (proxy.holds) expect(refusals).toEqual([]);

    await target.close();
    const outage = (await run(["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", profile]))
      .stdout;
    const row = page.split("\n").find((line) => line.startsWith(`| ${name} |`));
    expect(row).toContain(outage);
    await close();
  });

  test.if(hasProxy(proxy) && process.platform === "linux")(
    "while processes on one port restart one after the other, loses nothing",
    async () => {
      const port = String(findFreePort());
      const words = ["--trusted-proxy", "127.0.0.1", "--reuse-port", "--port", port];
      const processes = [await openExecutable(words), await openExecutable(words)];
      const ports = { listen: findFreePort(), upstream: Number(port) };
      const { origin, close } = await openProxy(proxy, ports);
      const getStatus = async () => (await fetch(`${origin}/users/public/42`)).status;

      const restart = async () => {
        for (const [at, old] of processes.entries()) {
          await old.close();
          processes[at] = await openExecutable(words);
        }
      };
      const statuses = await underLoad(getStatus, restart);
      // Otherwise, Linux refuses connections that wait at a process when it stops.
      const refused = migratesConnections ? [] : [502, 503];
      expect([...statuses].filter((status) => !refused.includes(status))).toEqual([200]);
      await Promise.all([close(), ...processes.map((each) => each.close())]);
    },
  );
});

test.if(hasProxy({ program: "nginx" }))("nginx gives each request an id of its own", async () => {
  const target = await openTrusting();
  const ports = { listen: findFreePort(), upstream: Number(target.port) };
  const { origin, close } = await openProxy(
    nginxWith((site) => site),
    ports,
  );
  const { headers } = await fetch(`${origin}/health`, { headers: { "x-request-id": "mine" } });
  expect(headers.get("x-request-id")).toMatch(/^[\da-f]{32}$/);
  await close();
  await target.close();
});

/** An address from which the proxy in front connects to the guide's proxy. */
const EDGE = "127.0.0.77";

/** Adds what Cloudflare adds, in front of a proxy at `port`. */
const edge = (port: number) =>
  nginxWith((site) =>
    site
      .replace(/server 127.0.0.1:\d+;/, `server 127.0.0.1:${port};`)
      .replace("proxy_next_upstream off;", `$& proxy_bind ${EDGE};`)
      .replace(
        "proxy_set_header X-Request-Id",
        "proxy_set_header CF-Connecting-IP $remote_addr;\n  $&",
      )
      .replace("X-Forwarded-Host $http_host", `X-Forwarded-Host ""`)
      .replace("Host $http_host", `Host localhost:${port}`),
  );

describe.each([
  [
    "nginx",
    nginxWith((site) => {
      const [lines = ""] = /(?<=^```nginx\n).*?(?=^```)/ms.exec(page) ?? [];
      return site.replace(
        "proxy_next_upstream off;",
        `$&\n${lines.replaceAll("173.245.48.0/20", EDGE)}`,
      );
    }),
    ["127.0.0.1"],
  ],
  [
    "Caddy",
    caddyWith((caddyfile) => {
      const [line = ""] = /(?<=^```caddyfile\n).*?(?=^```)/ms.exec(page) ?? [];
      return caddyfile.replaceAll(
        "lb_try_duration 5s",
        `$&\n${line.replaceAll("173.245.48.0/20", `${EDGE}/32`)}`,
      );
    }),
    ["127.0.0.1", EDGE],
  ],
] as const)("behind Cloudflare, %s", (_, proxy, trusted) => {
  test.if(hasProxy(proxy) && hasProxy({ program: "nginx" }))(
    "passes on the client's address with the guide's lines",
    async () => {
      for (const [isTrusting, counts] of [
        [true, [29, 28, 29]],
        [false, [29, 28, 27]],
      ] as const) {
        const words = trusted.flatMap((address) => ["--trusted-proxy", address]);
        const target = await openLogged(isTrusting ? words : words.slice(0, 2));
        const upstream = Number(new URL(target.origin).port);
        const listen = findFreePort();
        const name = proxy.program === "nginx" ? "nginx" : "Caddy";
        const inner = await openProxy(isTrusting ? proxy : (proxies[name] ?? proxy), {
          listen,
          upstream,
        });
        const outer = await openProxy(edge(listen), { listen: findFreePort(), upstream: listen });
        const addresses = ["127.0.0.2", "127.0.0.2", "127.0.0.3"];
        const left: number[] = [];
        for (const from of addresses) left.push(await search(outer.origin, from));
        expect([isTrusting, left]).toEqual([isTrusting, [...counts]]);
        await outer.close();
        await inner.close();
        await target.close();
        expect([
          isTrusting,
          target.log().includes("CF-Connecting-IP names another client"),
        ]).toEqual([isTrusting, !isTrusting]);
      }
    },
  );
});
