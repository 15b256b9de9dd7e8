/** Validators, freshness and content codings, as caches and browsers use them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import fc from "fast-check";
import { chooseCoding } from "../src/http/compression.ts";
import { community, openInProcess, type Target } from "./support.ts";

const paths = [
  "/users/public/42",
  "/api/users/42/achievements",
  "/search/users?q=ann",
  "/api/search/companies?q=express",
];

let target: Target;
beforeAll(async () => {
  const achievements = Array.from({ length: 40 }, (_, at) => at + 1);
  const many = achievements.map((id) => ({
    type: "achievement",
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
  target = await openInProcess({ dataset: [...known, ...many, user] });
});
afterAll(() => target.close());

const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  target.fetch(path, { headers, method });

describe.each(paths)("%s", (path) => {
  test("has a strong ETag, and asks caches to ask again", async () => {
    const { headers } = await get(path);
    expect(headers.get("etag")).toMatch(/^"[\w-]{20,}"$/);
    expect(headers.get("cache-control")).toBe("no-cache");
    expect(headers.get("vary")).toBe("accept-encoding");
  });

  test("is a 304 without a body for who has it", async () => {
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
        expect(response.headers.get("access-control-allow-origin")).toBe("*");
      }
    }
  });

  test("is whole for who has something else", async () => {
    const etag = (await get(path)).headers.get("etag") ?? "";
    const bare = etag.replaceAll('"', "");
    for (const known of ['"x"', bare, `"${bare}x"`, `"${bare}`, "", '"*"', "W/", `"x${etag}`]) {
      expect([known, (await get(path, { "if-none-match": known })).status]).toEqual([known, 200]);
    }
  });
});

test("--cache-max-age lets anyone keep profiles, and only the client its searches", async () => {
  const kept = await openInProcess({ dataset: community, cacheMaxAgeSeconds: 60 });
  const wanted = ["public", "public", "private", "private"].map((who) => `${who}, max-age=60`);
  const said = await Promise.all(
    paths.map(async (path) => (await kept.fetch(path)).headers.get("cache-control")),
  );
  expect(said).toEqual(wanted);
  await kept.close();
});

test.each(["/users/public/43", "/users/public/x", "/nope", "/search/users?q=x"])(
  "the error at %s is kept by nobody",
  async (path) => {
    const { headers } = await get(path, { "if-none-match": "*" });
    expect([headers.get("cache-control"), headers.get("etag")]).toEqual(["no-store", null]);
  },
);

describe("a long answer", () => {
  const path = "/users/42/achievements";
  const decoders = { zstd: zstdDecompressSync, br: brotliDecompressSync, gzip: gunzipSync };

  test.each(Object.entries(decoders))(
    "comes in %s for who takes it, with an ETag of its own",
    async (coding, decode) => {
      const plain = await get(path);
      const coded = await get(path, { "accept-encoding": `identity;q=0.1, ${coding}` });
      expect(coded.headers.get("content-encoding")).toBe(coding);
      const bytes = await coded.bytes();
      expect(decode(bytes).toString()).toBe(await plain.text());
      expect(coded.headers.get("etag")).not.toBe(plain.headers.get("etag"));
      const head = await get(path, { "accept-encoding": coding }, "HEAD");
      expect(head.headers.get("content-length")).toBe(String(bytes.length));
      expect(head.headers.get("etag")).toBe(coded.headers.get("etag"));
      const again = { "accept-encoding": coding, "if-none-match": coded.headers.get("etag") ?? "" };
      expect((await get(path, again)).status).toBe(304);
    },
  );

  test("comes plain for who takes nothing of ours, and a short one always does", async () => {
    for (const header of ["", "identity", "deflate", "zstd;q=0, br;q=0.0, gzip;q=0", "*;q=0"]) {
      const { headers } = await get(path, { "accept-encoding": header });
      expect([header, headers.get("content-encoding")]).toEqual([header, null]);
    }
    const short = await get("/users/public/42", { "accept-encoding": "zstd, br, gzip" });
    expect(short.headers.get("content-encoding")).toBeNull();
  });
});

test.each([
  ["gzip, deflate, br, zstd", "zstd"],
  ["gzip, br", "br"],
  ["gzip;q=1, zstd;q=0.5", "gzip"],
  ["GZIP", "gzip"],
  ["*", "zstd"],
  ["*;q=0.5, zstd;q=0, gzip", "gzip"],
  ["zstd;q=junk", undefined],
])("Accept-Encoding %s is %s", (header, coding) => {
  expect(chooseCoding(header)).toBe(coding as ReturnType<typeof chooseCoding>);
});

test("no header value breaks an answer", async () => {
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
