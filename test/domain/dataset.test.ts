/** What an import takes and refuses, and what it leaves behind: the contract's §6 and §7. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { parseLine } from "../../src/domain/dataset.ts";
import { DatasetError } from "../../src/snapshot/build/dataset.ts";
import { importDataset } from "../../src/snapshot/build/import.ts";
import { listBeside } from "../datasets.ts";
import { runs } from "../runs.ts";
import { community, openInProcess, temporaryFolder } from "../support.ts";
import { achievement, company, role, user, wrongLines } from "./wrong-lines.ts";

async function* bytesOf(...chunks: (string | Uint8Array)[]) {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

/** The errors of a dataset as "line: field: reason" lines; none when it is imported. */
async function errorsOf(...lines: (object | string)[]): Promise<string[]> {
  const text = lines
    .map((line) => (typeof line === "string" ? line : JSON.stringify(line)))
    .join("\n");
  return errorsOfBytes(text);
}

async function errorsOfBytes(bytes: string | Uint8Array): Promise<string[]> {
  const folder = temporaryFolder();
  try {
    await importDataset(bytesOf(bytes), join(folder, "snapshot"));
    return [];
  } catch (error) {
    expect(listBeside(join(folder, "snapshot"))).toEqual([]);
    if (!(error instanceof DatasetError)) throw error;
    return error.message.split("\n");
  }
}

describe("a line is refused with its field and the reason", () => {
  test.each(wrongLines)("%s", async (_, line, expected) => {
    expect(await errorsOf(role, line)).toContain(`line 2: ${expected}`);
  });
});

test.each([role, achievement, company, user, { type: "user", id: 1, public: false }])(
  "an id that comes twice is refused: %j",
  async (line) => {
    expect(await errorsOf(line, line)).toEqual([`line 2: id: ${line.type} 1 is there already`]);
  },
);

test("a user cannot be both private and public", async () => {
  const hidden = { type: "user", id: 1, public: false };
  expect(await errorsOf(user, hidden)).toEqual(["line 2: id: user 1 is there already"]);
  expect(await errorsOf(hidden, user)).toEqual(["line 2: id: user 1 is there already"]);
});

test("a role or achievement that a user has twice is refused", async () => {
  const unlock = { id: 1, tier: 1, unlocked_at: user.created_at };
  expect(
    await errorsOf(role, achievement, { ...user, roles: [1, 1], achievements: [unlock, unlock] }),
  ).toEqual([
    "line 3: roles[1]: role 1 is there already",
    "line 3: achievements[1].id: achievement 1 is there already",
  ]);
});

test("references may come before what they name, and must lead somewhere in the end", async () => {
  const line = {
    ...user,
    company: { id: 1, role: "Owner" },
    roles: [1],
    achievements: [{ id: 1, tier: 1, unlocked_at: user.created_at }],
  };
  expect(await errorsOf(line, company, role, achievement)).toEqual([]);
  expect(await errorsOf("", line, "", { ...company, id: 2 })).toEqual([
    "line 2: company.id: there is no company 1",
    "line 2: roles[0]: there is no role 1",
    "line 2: achievements[0].id: there is no achievement 1",
  ]);
});

test("the first 20 errors are reported, and how many more there are", async () => {
  const lines = await errorsOf(...Array.from({ length: 133 }, () => "{"));
  expect(lines).toHaveLength(21);
  expect(lines.at(19)).toBe("line 20: is not valid JSON");
  expect(lines.at(20)).toBe("… and 113 more errors");
});

test("every field at its limits is taken", async () => {
  const most = Number.MAX_SAFE_INTEGER;
  expect(
    await errorsOf(
      { ...role, id: most, name: "😀".repeat(200), hierarchy: -most },
      { ...company, id: most, member_count: most },
      { ...achievement, id: most, tier: most, points: most },
      {
        ...achievement,
        id: 1,
        description: "😀".repeat(500),
        icon: "😀".repeat(200),
        kind: "😀".repeat(100),
      },
      { ...user, id: 4, avatar_url: `https://a.example/${"a".repeat(2030)}` },
      { ...user, id: 5, avatar_url: null },
      { ...user, id: 6, avatar_url: undefined },
      { type: "user", id: 7, public: false, avatar_url: null },
      { ...user, id: most, name: "a\u0000b", created_at: "0000-01-01T00:00:00Z", avatar_url: "/a" },
      { ...user, id: 2, created_at: "9999-12-31t23:59:59.999999999z", company: null, roles: [] },
      {
        ...user,
        id: 3,
        created_at: "2024-02-29T23:59:59+14:00",
        avatar_url: "http://例え.jp/ü.png",
      },
    ),
  ).toEqual([]);
});

const harmless = [
  "/avatars/ann.png",
  "/icons/night%20owl.svg",
  "/searching/a.png",
  "/search.png",
  "/a/search/users?q=ab",
  "/a/health",
  "/Users/a.png",
  "/drivers/42",
  "/a/..b/c.png",
  "/a//b.png",
  "/a?next=/../search/users",
  "/a#/../search/users",
  "/%C3%BC.png",
  "/...",
  "/apis",
];
test.each(harmless)("an avatar may be any other path: %s", async (avatar_url) => {
  expect(await errorsOf({ ...user, avatar_url })).toEqual([]);
});

test("no path that an avatar may be leads to the API, whoever decodes and merges it", async () => {
  const { fetch } = await openInProcess({ dataset: community, searchLimit: 1000 });
  const parts = ["/", "//", "..", ".", "\\", "%2e", "%2F", "%5C", "search", "%73earch", "users"];
  const part = fc.constantFrom(...parts, "api", "docs", "health", "a", "?q=ab", "#");
  const isCounted = async (path: string) =>
    (await fetch(path)).headers.has("x-ratelimit-remaining");
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 7 }), async (some) => {
      const path = `/${some.join("")}`;
      if (Array.isArray(parseLine(JSON.stringify({ ...user, avatar_url: path })))) return;
      taken++;
      // As a browser sends it, and as a proxy may hand it on.
      const { pathname, search } = new URL(`http://roadbook.test${path}`);
      const merged = decodeURIComponent(pathname).replaceAll("\\", "/").replace(/\/+/g, "/");
      expect([path, await isCounted(path), await isCounted(merged + search)]).toEqual([
        path,
        false,
        false,
      ]);
      expect(merged).not.toMatch(/^\/(api|docs|health|search|users)?(\/|$)/);
    }),
    { numRuns: runs(1000), seed: 19 },
  );
  expect(taken).toBeGreaterThan(100);
});

test("bytes that are not UTF-8 are refused, with their line", async () => {
  const bad = Buffer.concat([
    Buffer.from(`${JSON.stringify(role)}\n{"type":"`),
    Buffer.from([0xff]),
    Buffer.from('"}\n'),
  ]);
  expect(await errorsOfBytes(bad)).toEqual(["line 2: is not valid UTF-8"]);
});

test("line ends, blank lines, a byte order mark and no last line end do not matter", async () => {
  expect(
    await errorsOf(`\ufeff${JSON.stringify(role)}\r`, "\r", "   ", JSON.stringify(user)),
  ).toEqual([]);
});

test("a line is the same however the bytes arrive", async () => {
  const bytes = readFileSync(community);
  const whole = await openInProcess({ dataset: community });
  const target = join(temporaryFolder(), "snapshot");
  await importDataset(bytesOf(...Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))), target);
  const piecemeal = await openInProcess({ snapshot: target });
  for (const path of ["/users/public/42", "/users/42/achievements", "/search/users?q=nowak"]) {
    expect(await (await piecemeal.fetch(path)).text()).toBe(await (await whole.fetch(path)).text());
  }
});
