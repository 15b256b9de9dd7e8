/** What an import takes and refuses, and what it leaves behind: the contract's §6 and §7. */
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { DatasetError } from "../../src/snapshot/build/dataset.ts";
import { importDataset } from "../../src/snapshot/build/import.ts";
import {
  community,
  importByExecutable,
  isQuick,
  openInProcess,
  roadbook,
  temporaryFolder,
} from "../support.ts";

const user = {
  type: "user",
  id: 1,
  public: true,
  name: "Ann",
  avatar_url: "https://cdn.example/a.png",
  created_at: "2024-01-01T00:00:00Z",
};
const company = { type: "company", id: 1, name: "Acme", member_count: 1 };
const role = { type: "role", id: 1, name: "Driver", hierarchy: 1 };
const achievement = {
  type: "achievement",
  id: 1,
  name: "A",
  description: "",
  icon: "a.svg",
  kind: "x",
  tier: 0,
  points: 0,
};

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
    expect(readdirSync(folder)).toEqual([]);
    if (!(error instanceof DatasetError)) throw error;
    return error.message.split("\n");
  }
}

const id = "must be an integer from 1 to 9007199254740991";
const count = "must be an integer from 0 to 9007199254740991";
const name = "must be a string of 1 to 200 code points that is not blank";
const time = "must be an RFC 3339 time with Z or an offset, such as 2024-03-09T17:05:00Z";
const avatar =
  "must be an http or https URL or a path that starts with one /, of at most 2048 code points, or null";

const wrongLines: [string, object | string, string][] = [
  ["no JSON", '{"type":"user"', "is not valid JSON"],
  ["a list", "[]", "must be a JSON object"],
  ["null", "null", "must be a JSON object"],
  ["no type", { id: 1 }, 'type: must be "role", "achievement", "company", "user" or "end"'],
  [
    "an unknown type",
    { ...user, type: "truck" },
    'type: must be "role", "achievement", "company", "user" or "end"',
  ],
  [
    "a prototype's name as type",
    { type: "constructor" },
    'type: must be "role", "achievement", "company", "user" or "end"',
  ],
  ["an unknown field", { ...user, nick: "A" }, "nick: is not a known field"],
  [
    "an unknown field of a private user",
    { type: "user", id: 1, public: false, nick: "A" },
    "nick: is not a known field",
  ],
  ["an odd field name", { ...role, "a/b~c": 1 }, "a/b~c: is not a known field"],
  ["no public", { type: "user", id: 1 }, "public: is missing"],
  ["a public that is a word", { ...user, public: "yes" }, "public: must be true or false"],
  ["no name", { ...user, name: undefined }, "name: is missing"],
  ["an empty name", { ...company, name: "" }, `name: ${name}`],
  ["a blank name", { ...user, name: " \u3000" }, `name: ${name}`],
  ["a name of 201", { ...role, name: "😀".repeat(201) }, `name: ${name}`],
  ["a name that is a number", { ...user, name: 7 }, `name: ${name}`],
  [
    "half a surrogate pair",
    '{"type":"role","id":1,"name":"\\ud83d","hierarchy":1}',
    `name: ${name}`,
  ],
  ["id 0", { ...user, id: 0 }, `id: ${id}`],
  ["id 2^53", '{"type":"company","id":9007199254740992,"name":"A","member_count":1}', `id: ${id}`],
  ["id 1.5", { ...role, id: 1.5 }, `id: ${id}`],
  ["an id in quotes", { ...user, id: "1" }, `id: ${id}`],
  ["a negative count", { ...company, member_count: -1 }, `member_count: ${count}`],
  ["half a point", { ...achievement, points: 0.5 }, `points: ${count}`],
  ["a negative tier", { ...achievement, tier: -1 }, `tier: ${count}`],
  ["a hierarchy in words", { ...role, hierarchy: "high" }, "hierarchy: must be an integer"],
  [
    "a field twice",
    '{"type":"user","id":1,"public":false,"name":"A","public":true}',
    "public: appears more than once",
  ],
  [
    "a field twice, once escaped",
    '{"type":"user","id":1,"public":false,"p\\u0075blic" : false}',
    "public: appears more than once",
  ],
  [
    "a field twice, deep inside",
    `{"type":"user","id":1,"public":false,"achievements":[{"id":1,"tier":1,"unlocked_at":"${user.created_at}"},{"id":2,"tier":1,"id":2,"unlocked_at":"${user.created_at}"}]}`,
    "achievements[1].id: appears more than once",
  ],
  [
    "a description of 501",
    { ...achievement, description: "😀".repeat(501) },
    "description: must be a string of at most 500 code points of valid Unicode",
  ],
  [
    "an icon of 201",
    { ...achievement, icon: "i".repeat(201) },
    "icon: must be a string of at most 200 code points of valid Unicode",
  ],
  [
    "a kind of 101",
    { ...achievement, kind: "k".repeat(101) },
    "kind: must be a string of at most 100 code points of valid Unicode",
  ],
  ["an avatar of 2049", { ...user, avatar_url: `/${"a".repeat(2048)}` }, `avatar_url: ${avatar}`],
  ["an avatar that is an object", { ...user, avatar_url: {} }, `avatar_url: ${avatar}`],
  [
    "roles of 1001",
    { ...user, roles: Array.from({ length: 1001 }, (_, index) => index + 1) },
    "roles: must be a list of at most 1000 role ids",
  ],
  [
    "achievements of 1001",
    {
      ...user,
      achievements: Array.from({ length: 1001 }, (_, index) => ({
        id: index + 1,
        tier: 1,
        unlocked_at: user.created_at,
      })),
    },
    "achievements: must be a list of at most 1000 objects",
  ],
  [
    "a company role of 201",
    { ...user, company: { id: 1, role: "r".repeat(201) } },
    `company.role: ${name}`,
  ],
  [
    "an odd field name, which a terminal would act on",
    { ...role, "\u001b[31m\u202e": 1 },
    "\\u{1b}[31m\\u{202e}: is not a known field",
  ],
  [
    "a field name of a million characters",
    { ...role, ["x".repeat(1_000_000)]: 1 },
    `${"x".repeat(80)}…: is not a known field`,
  ],
  ["an end without a number", { type: "end" }, "lines: is missing"],
  ["an end with more", { type: "end", lines: 1, id: 1 }, "id: is not a known field"],
  ["no description", { ...achievement, description: undefined }, "description: is missing"],
  ["a time without zone", { ...user, created_at: "2024-01-01T00:00:00" }, `created_at: ${time}`],
  ["a day that never was", { ...user, created_at: "2023-02-29T00:00:00Z" }, `created_at: ${time}`],
  ["an hour 24", { ...user, created_at: "2023-02-28T24:00:00Z" }, `created_at: ${time}`],
  ["a date alone", { ...user, created_at: "2024-01-01" }, `created_at: ${time}`],
  [
    "an offset of 24 h",
    { ...user, created_at: "2024-01-01T00:00:00+24:00" },
    `created_at: ${time}`,
  ],
  [
    "a year before 0 in UTC",
    { ...user, created_at: "0000-01-01T00:00:00+01:00" },
    `created_at: ${time}`,
  ],
  [
    "an avatar of two slashes",
    { ...user, avatar_url: "//evil.example/a.png" },
    `avatar_url: ${avatar}`,
  ],
  [
    "an avatar of a slash and a backslash",
    { ...user, avatar_url: "/\\evil.example" },
    `avatar_url: ${avatar}`,
  ],
  ["an ftp avatar", { ...user, avatar_url: "ftp://cdn.example/a.png" }, `avatar_url: ${avatar}`],
  ["a script as avatar", { ...user, avatar_url: "javascript:alert(1)" }, `avatar_url: ${avatar}`],
  ["an avatar without host", { ...user, avatar_url: "https://" }, `avatar_url: ${avatar}`],
  ["an empty avatar", { ...user, avatar_url: "" }, `avatar_url: ${avatar}`],
  ["a company without role", { ...user, company: { id: 1 } }, "company.role: is missing"],
  [
    "a company that is a number",
    { ...user, company: 1 },
    "company: must be null or an object with id and role",
  ],
  [
    "roles that are no list",
    { ...user, roles: 1 },
    "roles: must be a list of at most 1000 role ids",
  ],
  ["a role in quotes", { ...user, roles: [1, "2"] }, `roles[1]: ${id}`],
  [
    "an unlock without zone",
    { ...user, achievements: [{ id: 1, tier: 1, unlocked_at: "2024-01-01T00:00:00" }] },
    `achievements[0].unlocked_at: ${time}`,
  ],
  [
    "an unlock with more",
    { ...user, achievements: [{ id: 1, tier: 1, unlocked_at: user.created_at, x: 1 }] },
    "achievements[0].x: is not a known field",
  ],
];

describe("a line is refused with its field and the reason", () => {
  test.each(wrongLines)("%s", async (_, line, expected) => {
    expect(await errorsOf(role, line)).toContain(`line 2: ${expected}`);
  });

  test.skipIf(isQuick)(
    "and the executable says the same",
    async () => {
      // A few at a time, as only the first 20 errors are reported.
      for (let from = 0; from < wrongLines.length; from += 8) {
        const some = wrongLines.slice(from, from + 8);
        const lines = some.map(([, line]) =>
          typeof line === "string" ? line : JSON.stringify(line),
        );
        const { code, stderr } = await roadbook(["import", "-", "--to", "s"], {
          stdin: lines.join("\n"),
        });
        expect(code).toBe(1);
        const reported = stderr.split("\n");
        const wanted = some.map(([, , expected], at) => `line ${at + 1}: ${expected}`);
        expect(reported).toEqual(expect.arrayContaining(wanted));
      }
    },
    30_000,
  );
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

describe.skipIf(isQuick)("through the executable", () => {
  const lines = [company, role, achievement, user].map((line) => JSON.stringify(line)).join("\n");
  const forms: [string, Uint8Array][] = [
    ["plain", Buffer.from(lines)],
    ["gzip", gzipSync(lines)],
    [
      "gzip of two members",
      Buffer.concat([gzipSync(`${lines.slice(0, 50)}`), gzipSync(lines.slice(50))]),
    ],
    ["zstd", zstdCompressSync(Buffer.from(lines))],
  ];

  test.each(forms)(
    "%s comes from a file or from standard input",
    async (_, bytes) => {
      const folder = temporaryFolder();
      writeFileSync(join(folder, "dataset"), bytes);
      const done = `imported 1 users (1 public), 1 companies, 1 achievements, 1 roles to s\n`;
      const options = { cwd: folder };
      expect(await roadbook(["import", "dataset", "--to", "s"], options)).toEqual({
        code: 0,
        stdout: done,
        stderr: "",
      });
      expect(await roadbook(["import", "-", "--to", "s"], { ...options, stdin: bytes })).toEqual({
        code: 0,
        stdout: done,
        stderr: "",
      });
      expect(readdirSync(folder).sort()).toEqual(["dataset", "s"]);
    },
    30_000,
  );

  test.each(forms.slice(1))("%s that ends early is refused", async (_, bytes) => {
    const folder = temporaryFolder();
    const { code, stderr } = await roadbook(["import", "-", "--to", "s"], {
      cwd: folder,
      stdin: bytes.subarray(0, bytes.length - 6),
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^roadbook: .*\n$/);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("errors go to standard error, the exit code is 1, and the target stays as it was", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "s"), "precious");
    const outcome = await roadbook(["import", "-", "--to", "s"], {
      cwd: folder,
      stdin: '{"type":"role"}\n[]\n',
    });
    expect(outcome).toEqual({
      code: 1,
      stdout: "",
      stderr: `roadbook: 4 errors in the dataset, nothing was written
line 1: id: is missing
line 1: name: is missing
line 1: hierarchy: is missing
line 2: must be a JSON object
`,
    });
    expect(readFileSync(join(folder, "s"), "utf8")).toBe("precious");
    expect(readdirSync(folder)).toEqual(["s"]);
  });

  test.each([
    ["a dataset that is not there", ["import", "nothing.ndjson", "--to", "s"], /nothing\.ndjson/],
    ["a folder as dataset", ["import", "/", "--to", "s"], /directory/i],
    ["a target in no folder", ["import", "-", "--to", "no/where/s"], /no\/where/],
  ])("%s is one clear line", async (_, words, expected) => {
    const { code, stdout, stderr } = await roadbook(words);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^roadbook: .*\n$/);
    expect(stderr).toMatch(expected);
  });

  test("of a private user the snapshot holds the id and nothing else", async () => {
    const snapshot = await importByExecutable(community);
    const bytes = readFileSync(snapshot).toString("latin1").toLowerCase();
    for (const secret of ["sekret", "secret.png", "spy"]) expect(bytes).not.toContain(secret);
    expect(bytes).toContain("nowak");
    expect(existsSync(`${snapshot}-journal`)).toBeFalse();
  });
});
