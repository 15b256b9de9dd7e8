/** Which client a search counts for: its address or the one that a trusted proxy reports. */
import { afterEach, expect, test } from "bun:test";
import { createRoadbook, type Roadbook } from "../../src/roadbook.ts";
import type { RoadbookOptions } from "../../src/settings/library-options.ts";
import { community } from "../datasets.ts";
import { converse } from "../sockets.ts";

const opened: Roadbook[] = [];
afterEach(() => Promise.all(opened.splice(0).map((roadbook) => roadbook.close())));

/** Returns functions that search, or open a page with a search, and return the budget left. */
async function open(options: Partial<RoadbookOptions>) {
  const limited = { dataset: community, searchLimit: 3, page: true };
  const roadbook = await createRoadbook({ ...limited, ...options });
  opened.push(roadbook);
  const get = (path: string, forwardedFor?: string, peer = "127.0.0.1") => {
    const headers = forwardedFor === undefined ? {} : { "x-forwarded-for": forwardedFor };
    return roadbook.fetch(new Request(`http://a.test${path}`, { headers }), peer);
  };
  const remaining = async (forwardedFor?: string, peer?: string) =>
    (await get("/search/users?q=no", forwardedFor, peer)).headers.get("x-ratelimit-remaining");
  return { roadbook, get, remaining };
}

test("X-Forwarded-For changes the client only behind trusted proxies", async () => {
  const direct = await open({});
  const proxied = await open({ trustedProxies: ["127.0.0.0/8", "10.0.0.0/8"] });
  for (const [from, left, behind] of [
    ["192.0.2.1", "2", "2"],
    ["198.51.100.7, 192.0.2.1, 10.1.2.3", "1", "1"],
    ["2001:db8:1:2::1", "0", "2"],
    ["2001:db8:1:2:ffff::9", "0", "1"],
  ] as const) {
    expect([await direct.remaining(from), await proxied.remaining(from)]).toEqual([left, behind]);
  }
});

test("ipv6Prefix sets what is one client", async () => {
  const { remaining } = await open({ trustedProxies: ["127.0.0.1"], ipv6Prefix: 48 });
  expect(await remaining("2001:db8:1:2::1")).toBe("2");
  expect(await remaining("2001:db8:1:3::1")).toBe("1");
  expect(await remaining("2001:db8:2::1")).toBe("2");
});

test("beyond maxClients, only a client of the same /48 inherits a count", async () => {
  const { remaining } = await open({ trustedProxies: ["127.0.0.1"], maxClients: 1 });
  expect(await remaining("2001:db8:1:2::1")).toBe("2");
  expect(await remaining("2001:db8:1:3::1")).toBe("1");
  expect(await remaining("2001:db8:2::1")).toBe("2");
  expect(await remaining("192.0.2.9")).toBe("2");
});

test("several X-Forwarded-For lines are joined", async () => {
  const { roadbook, remaining } = await open({ trustedProxies: ["127.0.0.1", "10.0.0.0/8"] });
  const { url } = await roadbook.listen();
  const lines = ["192.0.2.1", "10.0.0.9"].map((address) => `X-Forwarded-For: ${address}\r\n`);
  const head = `GET /search/users?q=no HTTP/1.1\r\nHost: a\r\nConnection: close\r\n`;
  const { responses } = await converse({ origin: url }, `${head}${lines.join("")}\r\n`);
  expect(responses[0]?.head).toContain("x-ratelimit-remaining: 2");
  expect(await remaining("192.0.2.1")).toBe("1");
});

test("clients in `unlimited` are not counted, by address and not by network", async () => {
  const { remaining } = await open({
    trustedProxies: ["127.0.0.1"],
    unlimited: ["192.0.2.0/24", "2001:db8::7"],
  });
  expect(await remaining("192.0.2.9")).toBeNull();
  expect(await remaining("2001:db8::7")).toBeNull();
  expect(await remaining("2001:db8::8")).toBe("2");
  expect(await remaining("192.0.2.9, 203.0.113.1")).toBe("2");
});

test.each([[[]], [["127.0.0.1"]]])(
  "a kiosk counts searches from other machines, but not from its own screen: proxies %p",
  async (trustedProxies: string[]) => {
    const { get, remaining } = await open({ kiosk: true, trustedProxies });
    for (let times = 0; times < 4; times++) {
      const search = await get("/search/users?q=no");
      expect([search.status, search.headers.get("ratelimit")]).toEqual([200, null]);
      expect(await (await get("/?q=no")).text()).toContain("/drivers/");
    }
    // Searches through a proxy on this machine are counted, even if the proxy is not trusted.
    expect(await remaining("192.0.2.1")).toBe("2");
    await get("/?q=no", "192.0.2.1");
    expect(await remaining("192.0.2.1")).toBe("0");
    expect(await remaining("127.0.0.1")).toBe(trustedProxies.length > 0 ? null : "0");
    expect(await remaining(undefined, "192.0.2.7")).toBe("2");
  },
);

test("waiting for Retry-After is enough, and a second less is not", async () => {
  let now = Date.UTC(2026, 0, 1);
  const { get } = await open({ searchLimit: 1, searchWindow: "60s", clock: () => now });
  const search = async () => {
    const { status, headers } = await get("/search/users?q=no");
    return [status, headers.get("retry-after")];
  };
  expect(await search()).toEqual([200, null]);
  now += 500;
  expect(await search()).toEqual([429, "60"]);
  now += 59_000;
  expect(await search()).toEqual([429, "1"]);
  now += 1000;
  expect(await search()).toEqual([200, null]);
});
