/** Validators, freshness and content codings, as caches and browsers use them. */
import { heapStats } from "bun:jsc";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import type { DatasetLine } from "../../src/domain/dataset.ts";
import { type Coding, codingFor } from "../../src/http/compression.ts";
import { createRoadbook } from "../../src/roadbook.ts";
import { makeSnapshot, user } from "../datasets.ts";
import { community, isQuick, openExecutable, openInProcess, type Target } from "../support.ts";

const paths = [
  "/users/public/42",
  "/api/users/42/achievements",
  "/search/users?q=ann",
  "/api/search/companies?q=express",
];

/** The test community, but user 42 has enough achievements to make compression worthwhile. */
async function makeDataset(): Promise<DatasetLine[]> {
  const achievements = Array.from({ length: 40 }, (_, at) => at + 1);
  const many = achievements.map((id) => ({
    type: "achievement" as const,
    id,
    name: `Ü ${id}`,
    description: "Drive.",
    icon: "a.svg",
    kind: "x",
    tier: 1,
    points: 1,
  }));
  const lines = (await Bun.file(community).text()).trim().split("\n").filter(Boolean);
  const known = lines
    .map((line) => JSON.parse(line))
    .filter(({ type, id }) => type !== "achievement" && id !== 42);
  const user = {
    type: "user",
    id: 42,
    public: true,
    name: "Łukasz",
    avatar_url: "/a.png",
    created_at: "2020-01-01T00:00:00Z",
    achievements: achievements.map((id) => ({ id, tier: 1, unlocked_at: "2021-01-01T00:00:00Z" })),
  };
  return [...known, ...many, user];
}

const openers: Record<string, (dataset: object[]) => Promise<Target>> = {
  "in process": (dataset) => openInProcess({ dataset }),
  "the executable": async (dataset) =>
    openExecutable(["--snapshot", await makeSnapshot(dataset), "--search-limit", "0"]),
};

describe.each(Object.entries(openers).slice(0, isQuick ? 1 : undefined))("%s:", (_, open) => {
  let target: Target;
  beforeAll(async () => {
    target = await open(await makeDataset());
  }, 60_000);
  afterAll(() => target.close());

  /** Replaces the runtime's own Accept-Encoding, and does not decode the body. */
  const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
    target.fetch(path, {
      headers: { "accept-encoding": "identity", ...headers },
      method,
      decompress: false,
    } as RequestInit);

  describe.each(paths)("%s", (path) => {
    test("has a strong ETag and must be revalidated by caches", async () => {
      const { headers } = await get(path);
      expect(headers.get("etag")).toMatch(/^"[\w-]{20,}"$/);
      expect(headers.get("cache-control")).toBe("no-cache");
      expect(headers.get("vary")).toBe("accept-encoding");
    });

    test("is a 304 without a body for a client that has the ETag", async () => {
      const etag = (await get(path)).headers.get("etag") ?? "";
      for (const known of [
        etag,
        `W/${etag}`,
        `"x", ${etag}`,
        `"a,b" , W/"c",${etag},"d"`,
        "*",
        " * ",
      ]) {
        for (const method of ["GET", "HEAD"]) {
          const response = await get(path, { "if-none-match": known }, method);
          expect([known, response.status]).toEqual([known, 304]);
          expect(await response.text()).toBe("");
          expect(response.headers.get("etag")).toBe(etag);
          expect(response.headers.get("cache-control")).toBe("no-cache");
          expect(response.headers.get("vary")).toBe("accept-encoding");
          expect(response.headers.get("content-type")).toBeNull();
          // Not even 0: it would be the length of the body that the client has.
          expect(response.headers.get("content-length")).toBeNull();
          expect(response.headers.get("access-control-allow-origin")).toBe("*");
        }
      }
    });

    test("is a 200 for a client that has a different ETag", async () => {
      const etag = (await get(path)).headers.get("etag") ?? "";
      const bare = etag.replaceAll('"', "");
      for (const known of ['"x"', bare, `"${bare}x"`, `"${bare}`, "", '"*"', "W/", `"x${etag}`]) {
        expect([known, (await get(path, { "if-none-match": known })).status]).toEqual([known, 200]);
      }
    });
  });

  test.each(["/users/public/43", "/users/public/x", "/nope", "/search/users?q=x"])(
    "no cache may store the error at %s",
    async (path) => {
      const { headers } = await get(path, { "if-none-match": "*" });
      expect([headers.get("cache-control"), headers.get("etag")]).toEqual(["no-store", null]);
    },
  );

  describe("a long response", () => {
    const path = "/users/42/achievements";

    test("is sent in gzip to a client that accepts it, with a separate ETag", async () => {
      const plain = await get(path);
      const accepted = { "accept-encoding": "identity;q=0.1, gzip" };
      const coded = await get(path, accepted);
      expect(coded.headers.get("content-encoding")).toBe("gzip");
      const bytes = await coded.bytes();
      expect(gunzipSync(bytes).toString()).toBe(await plain.text());
      expect(coded.headers.get("etag")).not.toBe(plain.headers.get("etag"));
      const head = await get(path, accepted, "HEAD");
      expect(head.headers.get("content-length")).toBe(String(bytes.length));
      expect(head.headers.get("etag")).toBe(coded.headers.get("etag"));
      const known = { "if-none-match": coded.headers.get("etag") ?? "" };
      expect((await get(path, { ...accepted, ...known })).status).toBe(304);
    });

    test("is compressed only for a client that accepts it, and a short one never is", async () => {
      for (const header of ["", "identity", "deflate", "br, zstd", "gzip;q=0.0", "*;q=0"]) {
        const { headers } = await get(path, { "accept-encoding": header });
        expect([header, headers.get("content-encoding")]).toEqual([header, null]);
      }
      const short = await get("/users/public/42", { "accept-encoding": "zstd, br, gzip" });
      expect(short.headers.get("content-encoding")).toBeNull();
    });
  });

  test("no header value breaks a response", async () => {
    const text = fc.string({
      unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
    });
    await fc.assert(
      fc.asyncProperty(text, text, async (encoding, known) => {
        const response = await get("/users/42/achievements", {
          "accept-encoding": encoding,
          "if-none-match": known,
        });
        expect(response.status).toBeOneOf([200, 304]);
      }),
    );
  });
});

test("with --cache-max-age, profiles are cached publicly and searches privately", async () => {
  const target = await openInProcess({ dataset: community, cacheMaxAge: "1m" });
  const expected = ["public", "public", "private", "private"].map(
    (scope) => `${scope}, max-age=60`,
  );
  const actual = await Promise.all(
    paths.map(async (path) => (await target.fetch(path)).headers.get("cache-control")),
  );
  expect(actual).toEqual(expected);
  await target.close();
});

const compressible = "x".repeat(5000);

test.each([
  ["gzip, deflate, br, zstd", "gzip"],
  ["GZIP", "gzip"],
  ["gzip;q=0.5,br;q=0.501", "gzip"],
  ["deflate, br, zstd", "identity"],
  ["", "identity"],
  ["*", "gzip"],
  ["*;q=0", "identity"],
  ["*;q=0.5, zstd;q=0, gzip", "gzip"],
  ["gzip;q=0, *", "identity"],
  ["gzip, *;q=0", "gzip"],
  // `identity` can have a weight like any other coding.
  ["identity;q=1, gzip;q=0.1", "identity"],
  ["identity;q=0.5, gzip;q=0.8", "gzip"],
  ["identity, gzip", "identity"],
  ["identity;q=0, gzip;q=0.1", "gzip"],
  ["identity;q=0, *;q=0.1", "gzip"],
  ["identity;q=0", "identity"],
  ["identity;q=0, *;q=0", "identity"],
  // A malformed element is ignored, and the others still apply.
  ["gzip;q=junk", "identity"],
  ["zstd;q=junk, gzip;q=0.2", "gzip"],
  [",,;;==, gzip", "gzip"],
  ['"gzip', "identity"],
])("Accept-Encoding %j selects %p", (header, coding) => {
  for (let time = 0; time < 2; time++) {
    expect(codingFor(compressible, header)).toBe(coding as Coding);
  }
});

describe("a repeated response", () => {
  test("uses the current request's origin for avatars", async () => {
    const dataset = [{ ...user(9, "Ann"), avatar_url: "/9.png" }];
    const roadbook = await createRoadbook({ dataset });
    for (const origin of ["http://a.example", "https://a.example", "http://b.example"]) {
      for (const path of ["/users/public/9", "/search/users?q=ann"]) {
        for (let times = 0; times < 2; times++) {
          const response = await roadbook.fetch(new Request(origin + path));
          expect(await response.text()).toContain(`"${origin}/9.png"`);
        }
      }
    }
    roadbook.close();
  });

  test("is the same every time in each coding, and its ETag stays valid", async () => {
    const roadbook = await createRoadbook({ dataset: await makeDataset() });
    const get = (headers: Record<string, string>, method = "GET") =>
      roadbook.fetch(new Request("http://a.test/users/42/achievements", { method, headers }));
    const plain = await (await get({})).text();
    for (let times = 0; times < 10; times++) {
      const response = await get({ "accept-encoding": "gzip" });
      const etag = response.headers.get("etag") ?? "";
      expect(response.headers.get("content-encoding")).toBe("gzip");
      expect(etag).toEndWith(`-gzip"`);
      expect(gunzipSync(new Uint8Array(await response.arrayBuffer())).toString()).toBe(plain);
      const unchanged = await get({ "accept-encoding": "gzip", "if-none-match": etag });
      expect(unchanged.status).toBe(304);
      expect(await (await get({})).text()).toBe(plain);
      const head = await get({}, "HEAD");
      expect(await head.text()).toBe("");
      expect(head.headers.get("content-length")).toBe(String(Buffer.byteLength(plain)));
    }
    await roadbook.close();
  });

  test("is not compressed with compress: false, even if it is stored compressed", async () => {
    const options = { demo: true, page: true, compress: false };
    await using roadbook = await createRoadbook(options);
    for (const path of ["/users/42/achievements", "/", "/docs/scalar.js"]) {
      const headers = { "accept-encoding": "gzip, br, zstd" };
      const response = await roadbook.fetch(new Request(`http://a.test${path}`, { headers }));
      expect([response.status, response.headers.get("content-encoding")]).toEqual([200, null]);
      expect(await response.text()).toMatch(/^[{<!/(]/);
    }
  });

  test("does not stay in memory: a thousand more profiles take less than 10 MB", async () => {
    const ids = Array.from({ length: 2000 }, (_, at) => at + 1);
    const roles = ids.slice(0, 100);
    const dataset = [
      ...roles.map((id) => ({ type: "role" as const, id, name: "a".repeat(200), hierarchy: 1 })),
      ...ids.map((id) => user(id, "Ann", { roles })),
    ];
    const roadbook = await createRoadbook({ dataset });
    const ask = async (from: number) => {
      for (let n = from; n < from + 1000; n++) {
        for (let times = 0; times < 2; times++) {
          const response = await roadbook.fetch(new Request(`http://a.test/users/public/${n + 1}`));
          expect((await response.text()).length).toBeGreaterThan(20_000);
        }
      }
      Bun.gc(true);
      const { heapSize, extraMemorySize } = heapStats();
      return (heapSize + extraMemorySize) / 2 ** 20;
    };
    const before = await ask(0);
    expect((await ask(1000)) - before).toBeLessThan(10);
    roadbook.close();
  });
});
