/**
 * The rules for datasets in src/domain/README.md: which lines are valid, and the message for every
 * error.
 */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { importDataset } from "../../src/snapshot/import/import.ts";
import { DatasetError } from "../../src/snapshot/import/line-errors.ts";
import { exportDataset } from "../../src/snapshot/read/export.ts";
import { listBeside, makeSnapshot } from "../datasets.ts";
import { community, openInProcess, root, temporaryFolder } from "../support.ts";
import { achievement, company, invalidLines, role, user } from "./invalid-lines.ts";

async function* bytesOf(...chunks: (string | Uint8Array)[]) {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

/** Imports a dataset and returns the lines of the error message, or none if the import succeeds. */
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

describe("an invalid line is reported with the field and the reason", () => {
  test.each(invalidLines)("%s", async (_, line, expected) => {
    const found = await errorsOf(role, line);
    expect(found.filter((error) => error.startsWith(`line 2: ${expected}`))).toHaveLength(1);
  });
});

test.each([role, achievement, company, user, { type: "user", id: 1, public: false }])(
  "a duplicate id is an error: %j",
  async (line) => {
    expect(await errorsOf(line, line)).toEqual([`line 2: id: duplicate ${line.type} id 1`]);
  },
);

test("a user cannot be both private and public", async () => {
  const hidden = { type: "user", id: 1, public: false };
  expect(await errorsOf(user, hidden)).toEqual(["line 2: id: duplicate user id 1"]);
  expect(await errorsOf(hidden, user)).toEqual(["line 2: id: duplicate user id 1"]);
});

test("a role or achievement that is listed twice for a user is an error", async () => {
  const unlock = { id: 1, tier: 1, unlocked_at: user.created_at };
  expect(
    await errorsOf(role, achievement, { ...user, roles: [1, 1], achievements: [unlock, unlock] }),
  ).toEqual([
    "line 3: roles[1]: role 1 is listed twice for user 1",
    "line 3: achievements[1].id: achievement 1 is listed twice for user 1; keep the highest tier",
  ]);
});

test("a reference may come before the record that it refers to, but the record must exist", async () => {
  const line = {
    ...user,
    company: { id: 1, role: "Owner" },
    roles: [1],
    achievements: [{ id: 1, tier: 1, unlocked_at: user.created_at }],
  };
  expect(await errorsOf(line, company, role, achievement)).toEqual([]);
  expect(await errorsOf("", line, "", { ...company, id: 2 })).toEqual([
    "line 2: company.id: there is no company 1 (user 1)",
    "line 2: roles[0]: there is no role 1 (user 1)",
    "line 2: achievements[0].id: there is no achievement 1 (user 1)",
  ]);
});

test("an invalid company, role or achievement is one error, however many users reference it", async () => {
  const users = [2, 3].map((id) => ({
    ...user,
    id,
    company: { id: 1, role: "Owner" },
    roles: [1],
    achievements: [{ id: 1, tier: 1, unlocked_at: user.created_at }],
  }));
  const invalid = [
    { ...company, name: "" },
    { ...role, hierarchy: "1" },
    { ...achievement, points: -1 },
  ];
  expect(await errorsOf(...users, ...invalid)).toEqual([
    expect.stringMatching(/^line 3: name: .*, got "" \(company 1\)$/),
    expect.stringMatching(/^line 4: hierarchy: .*, got "1" \(role 1\)$/),
    expect.stringMatching(/^line 5: points: .*, got -1 \(achievement 1\)$/),
  ]);
});

describe("an error quotes the invalid value and suggests a fix for a common mistake", () => {
  const steam = '{"type":"user","id":76561198012345678,"public":false}';
  const fix = "  fix: map larger ids to smaller ones; for Steam ids, subtract";
  test.each([
    [
      "null",
      { ...role, name: null },
      ["name: must be a non-blank string of 1 to 200 code points, got null"],
    ],
    ["a long text", { ...role, name: "x".repeat(300) }, ['got "xxx', 'x…" (300 code points)']],
    ["a terminal escape sequence", { ...role, name: "", hierarchy: "\u001b[2J" }, ["\\u{1b}[2J"]],
    [
      "an array",
      { ...user, roles: Array(101).fill(1) },
      ["role ids, got an array of 101 elements (user 1)"],
    ],
    ["an object", { ...role, hierarchy: {} }, ["must be an integer, got an object (role 1)"]],
    ["a Steam id", steam, ["9007199254740991, got 76561198012345678", fix]],
    [
      "a large id in a nested object",
      { ...user, company: { id: 2 ** 60, role: "x" } },
      ["got 1152921504606847000 (user 1)", fix],
    ],
    [
      "30 February",
      { ...user, created_at: "2024-02-30T00:00:00Z" },
      [
        'on a real date, with Z or an offset, such as 2024-03-09T17:05:00Z, got "2024-02-30T00:00:00Z" (user 1)',
      ],
    ],
    [
      "a database's error message",
      "ERROR 1045 (28000)",
      ['must be valid JSON, got "ERROR 1045 (28000)"'],
    ],
    [
      "JSON that is spread over several lines",
      "{",
      ["fix: put each object on one line: jq -c . FILE"],
    ],
  ])("%s", async (_, line, expected) => {
    const text = (await errorsOf(role, line)).join("\n");
    for (const part of expected) expect(text).toContain(part);
  });

  test("a private user's values are never quoted", async () => {
    const secret = { ...user, public: false, name: 7, avatar_url: "secret" };
    const broken = '{"type":"user","id":2,"public":false,"name":"secret"secret"}';
    const errors = (await errorsOf(secret, broken)).join("\n");
    expect(errors).toMatch(
      /^line 1: name: must be a non-blank string of 1 to 200 code points \(user 1\)$/m,
    );
    expect(errors).toContain("line 2: must be valid JSON");
    expect(errors).not.toMatch(/secret|got/);
  });
});

test("a file in another format is reported as one error with a fix", async () => {
  const snapshot = await makeSnapshot();
  const text = JSON.stringify(user);
  const mistakes: [string | Uint8Array, string, string][] = [
    [`[${text},\n${text}]`, "this is a JSON array", "jq -c '.[]'"],
    [`[\n${text}\n]`, "this is a JSON array", "jq -c '.[]'"],
    [`[${`${text},`.repeat(9000)}]`, "this is a JSON array", "jq -c '.[]'"],
    ['id,"full name",public\n1,Ann,true\n', "this looks like CSV", "as users.csv"],
    ["id;name\n1;Ann\n", "this looks like CSV", "as users.csv"],
    [Buffer.from(`\ufeff${text}`, "utf16le"), "this is UTF-16", "iconv -f UTF-16"],
    [Buffer.from(text, "utf16le"), "this is UTF-16", "iconv -f UTF-16"],
    [Buffer.from(`\ufeff${text}`, "utf16le").swap16(), "this is UTF-16", "iconv -f UTF-16"],
    [readFileSync(snapshot), "this is a SQLite file", "roadbook export FILE"],
  ];
  for (const [bytes, reason, fix] of mistakes) {
    const found = await errorsOfBytes(bytes);
    expect(found).toHaveLength(2);
    expect(found[0]).toStartWith(`line 1: ${reason}`);
    expect(found[1]).toContain(fix);
  }
});

test("errors are grouped by kind with a count, and an error in the end line comes first", async () => {
  const lines = [
    ...Array.from({ length: 1200 }, (_, index) => ({ ...role, id: index + 1, name: "" })),
    { ...company, member_count: null },
    ...[1, 2].map((id) => ({ ...user, id, roles: [1, null] })),
    { type: "end", lines: 9 },
  ];
  const reason = "must be a non-blank string of 1 to 200 code points";
  const found = await errorsOf(...lines);
  expect(found).toEqual([
    "line 1204: lines: must be 1203 (the number of lines before this one), got 9",
    ...[1, 2, 3, 4, 5].map((id) => `line ${id}: name: ${reason}, got "" (role ${id})`),
    "  … and 1,195 more like this (1,200 in all)",
    expect.stringMatching(/^line 1201: member_count: must be .*, got null \(company 1\)$/),
    expect.stringMatching(/^line 1202: roles\[1\]: must be .*, got null \(user 1\)$/),
    expect.stringMatching(/^line 1203: roles\[1\]: must be .*, got null \(user 2\)$/),
  ]);
});

test("a DatasetError lists errors of at most 100 kinds", async () => {
  const fields = Array.from({ length: 120 }, (_, index) => [`x${index}`, 1]);
  const lines = fields.map(([name, value]) => ({ ...role, [String(name)]: value }));
  const target = join(temporaryFolder(), "snapshot");
  const error = await importDataset(lines, target, { maxErrors: 1 }).catch((error) => error);
  expect(error).toBeInstanceOf(DatasetError);
  expect(error.count).toBe(120);
  expect(error.errors).toHaveLength(100);
  const reason = "is not a known field";
  expect(error.errors[1]).toMatchObject({ line: 2, field: "x1", reason, type: "role", id: 1 });
  expect(error.message).toEndWith("\n… and 20 errors of other kinds");
});

test("every field accepts the shortest, longest, lowest and highest valid values", async () => {
  const max = Number.MAX_SAFE_INTEGER;
  expect(
    await errorsOf(
      { ...role, id: max, name: "😀".repeat(200), hierarchy: -max },
      { ...company, id: max, member_count: max },
      { ...achievement, id: max, tier: max, points: max },
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
      { ...user, id: max, name: "a\u0000b", created_at: "0000-01-01T00:00:00Z", avatar_url: "/a" },
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

const joined = "क्‍ष 👩‍🚀 می‌روم";

test.each([
  ["a\tb\n1095", "a b 1095"],
  ["\u0001ctrl8\u0085", "ctrl8"],
  ["\u3000Anna \u2003 \u00a0Nowak ", "Anna Nowak"],
  ["a\u00adb\u200bc\u2060d\ufeffe\u202ef\u2066g", "abcdefg"],
  [`${"\u200e".repeat(1000)}${"x".repeat(200)}`, "x".repeat(200)],
  [joined, joined],
])("control characters and extra white space in a name are removed: %j", async (name, cleaned) => {
  const lines = [
    { ...role, name },
    { ...company, name },
    { ...achievement, name },
    { ...user, name, company: { id: company.id, role: name } },
    { type: "user", id: 2, public: false, name },
  ];
  const target = join(temporaryFolder(), "snapshot");
  const { cleaned: count } = await importDataset(lines, target);
  expect(count).toBe(name === cleaned ? 0 : 6);
  const text = [...(await exportDataset(target))].join("");
  const names = [...text.matchAll(/"(?:name|role)":"([^"]*)"/g)].map(([, each]) => each);
  expect(names).toEqual(Array(5).fill(cleaned));
  const server = await openInProcess({ snapshot: target });
  const { user: shown } = await (await server.fetch("/users/public/1")).json();
  expect([shown.name, shown.company.name, shown.company.role]).toEqual(Array(3).fill(cleaned));
  await server.close();
});

test("a name that has nothing else is empty", async () => {
  expect(await errorsOf({ ...company, name: " \u200b\u0000\t" })).toEqual([
    'line 1: name: must be a non-blank string of 1 to 200 code points, got "" (company 1)',
  ]);
});

test.each(["/avatars/ann.png", "/", "/search/users?q=ab", "/a/../b.png", "/%C3%BC.png"])(
  "an avatar may be the path %s",
  async (avatar_url) => {
    expect(await errorsOf({ ...user, avatar_url })).toEqual([]);
  },
);

test("invalid UTF-8 is an error with a line number", async () => {
  const bad = Buffer.concat([
    Buffer.from(`${JSON.stringify(role)}\n{"type":"`),
    Buffer.from([0xff]),
    Buffer.from('"}\n'),
  ]);
  expect(await errorsOfBytes(bad)).toEqual([
    "line 2: is not valid UTF-8",
    "  fix: convert the file to UTF-8, for example: iconv -f WINDOWS-1252 -t UTF-8 FILE",
  ]);
});

test("CRLF, blank lines, a BOM and a missing final line break are accepted", async () => {
  expect(
    await errorsOf(`\ufeff${JSON.stringify(role)}\r`, "\r", "   ", JSON.stringify(user)),
  ).toEqual([]);
});

test("the example in src/domain/README.md is valid", async () => {
  const readme = await Bun.file(join(root, "src/domain/README.md")).text();
  const [, example = ""] = /```json\n(.*?)```/s.exec(readme) ?? [];
  expect(example).toContain('"type":"end"');
  expect(await errorsOf(example)).toEqual([]);
});

test("a dataset may arrive in chunks of any size", async () => {
  const bytes = readFileSync(community);
  const atOnce = await openInProcess({ dataset: community });
  const target = join(temporaryFolder(), "snapshot");
  await importDataset(bytesOf(...Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))), target);
  const piecemeal = await openInProcess({ snapshot: target });
  for (const path of ["/users/public/42", "/users/42/achievements", "/search/users?q=nowak"]) {
    expect(await (await piecemeal.fetch(path)).text()).toBe(
      await (await atOnce.fetch(path)).text(),
    );
  }
});
