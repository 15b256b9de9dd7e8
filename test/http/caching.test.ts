/** Validators, freshness and content codings, as caches and browsers use them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import { Content } from "../../src/http/content.ts";
import { applyChanges } from "../../src/import/apply.ts";
import { createRoadbook } from "../../src/roadbook.ts";
import { longDataset, makeSnapshot } from "../datasets.ts";
import { isQuick, openExecutable, openInProcess, type Target } from "../support.ts";

const paths = ["/users/public/1", "/search/users?q=now", "/docs/scalar.js"];
const dataset = [...longDataset(1), { type: "user", id: 43, public: false }];

const openers: Record<string, () => Promise<Target>> = {
  "in process": () => openInProcess({ dataset }),
  "the executable": async () =>
    openExecutable(["--snapshot", await makeSnapshot(dataset), "--search-limit", "0"]),
};

describe.each(Object.entries(openers).slice(0, isQuick ? 1 : undefined))("%s:", (_, open) => {
  let target: Target;
  beforeAll(async () => {
    target = await open();
  });
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
      for (const known of [etag, `W/${etag}`, `"a,b" , W/"c",${etag},"d"`, "*", " * "]) {
        for (const method of ["GET", "HEAD"]) {
          const response = await get(path, { "if-none-match": known }, method);
          expect([known, response.status]).toEqual([known, 304]);
          expect(await response.text()).toBe("");
          expect(response.headers.get("etag")).toBe(etag);
          // Not even 0: it would be the length of the body that the client has.
          expect(response.headers.get("content-length")).toBeNull();
        }
      }
    });

    test("is a 304 for a proxy that appends to the tag when it compresses", async () => {
      const etag = (await get(path)).headers.get("etag") ?? "";
      for (const suffix of ["-gzip", ";gzip", "--gzip"]) {
        const known = etag.replace(/"$/, `${suffix}"`);
        expect([suffix, (await get(path, { "if-none-match": known })).status]).toEqual([
          suffix,
          304,
        ]);
      }
      const other = etag.replace(/"$/, '-gzip-gzip"');
      expect((await get(path, { "if-none-match": other })).status).toBe(200);
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

  test("a long response is sent in gzip if the client accepts it, with its own ETag", async () => {
    const path = "/users/1/achievements";
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
    const short = await get("/users/public/1", { "accept-encoding": "zstd, br, gzip" });
    expect(short.headers.get("content-encoding")).toBeNull();
  });
});

// `identity` can have a weight like any other coding. A malformed element is ignored.
const gzip = "GZIP|*|gzip, *;q=0|identity;q=0, gzip;q=0.1|,,;;==, gzip|identity;q=0.1, gzip";
const identity =
  '|identity|deflate|br, zstd|gzip;q=0.0|*;q=0|identity;q=1, gzip;q=0.1|gzip;q=junk|"gzip';
test.each(Object.entries({ gzip, identity }))("Accept-Encoding selects %s", (coding, headers) => {
  const long = "x".repeat(5000);
  for (const header of headers.split("|")) {
    const content = new Content("text/plain", long, { cache: "public" });
    const found = content.encodeFor(new Headers({ "accept-encoding": header }), true);
    expect<unknown>([header, found.coding]).toEqual([header, coding]);
  }
});

test("no shared cache may store a response for a forwarded host, without --public-url", async () => {
  for (const [publicUrl, forwarded, peer, expected] of [
    [undefined, "forged.example", "192.0.2.1", "private, max-age=300"],
    ["https://api.example", "forged.example", "192.0.2.1", "public, max-age=300"],
    [undefined, undefined, "192.0.2.1", "public, max-age=300"],
    // The header of an address that is not trusted is ignored.
    [undefined, "forged.example", "192.0.2.2", "public, max-age=300"],
  ] as const) {
    const options = { demo: true, cacheMaxAge: "5m", trustedProxies: ["192.0.2.1"] };
    await using roadbook = await createRoadbook({ ...options, publicUrl });
    const headers: Record<string, string> = forwarded ? { "x-forwarded-host": forwarded } : {};
    const request = new Request("http://a.test/users/public/42", { headers });
    const response = await roadbook.fetch(request, peer);
    expect(response.headers.get("cache-control")).toBe(expected);
    expect((await response.text()).includes("forged")).toBe(expected.startsWith("private"));
  }
});

test("a repeated response is identical until a new snapshot replaces it", async () => {
  const snapshot = await makeSnapshot();
  await using roadbook = await createRoadbook({ snapshot, searchLimit: 0 });
  const get = async (path: string) => {
    const response = await roadbook.fetch(new Request(`http://a.test${path}`));
    return [response.status, response.headers.get("etag"), await response.text()] as const;
  };
  const paths = ["/users/public/44", "/users/44/achievements", "/search/users?q=nora"];
  for (const path of paths) {
    const first = await get(path);
    expect([first, first[0]]).toEqual([await get(path), 200]);
  }
  await applyChanges([{ type: "user", id: 44, public: false }], snapshot);
  await roadbook.refresh();
  const now = await Promise.all(paths.map(get));
  expect(now.map(([status]) => status)).toEqual([403, 403, 200]);
  for (const [, , text] of now) expect(text).not.toContain("Nora");
});

test("a response is not compressed with compress: false, even if it is stored compressed", async () => {
  const options = { demo: true, page: true, compress: false };
  await using roadbook = await createRoadbook(options);
  for (const path of ["/users/42/achievements", "/", "/docs/scalar.js"]) {
    const headers = { "accept-encoding": "gzip, br, zstd" };
    const response = await roadbook.fetch(new Request(`http://a.test${path}`, { headers }));
    expect([response.status, response.headers.get("content-encoding")]).toEqual([200, null]);
    expect(await response.text()).toMatch(/^[{<!/(]/);
  }
});
