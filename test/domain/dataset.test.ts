/**
 * The rules for datasets in src/domain/README.md: which lines are valid, and the message for every
 * error.
 */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { RecordError } from "../../src/domain/records.ts";
import { importDataset } from "../../src/import/import.ts";
import { DatasetError } from "../../src/import/record-errors.ts";
import { exported, listBeside } from "../datasets.ts";
import { openInProcess, root, temporaryFolder } from "../support.ts";
import { achievement, company, invalidLines, role, user } from "./invalid-lines.ts";

async function* bytesOf(...chunks: (string | Uint8Array)[]) {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

/** Imports a dataset and returns the lines of the error message, or none if the import succeeds. */
async function errorsOf(...lines: (object | string)[]): Promise<string[]> {
  const toText = (line: object | string) =>
    typeof line === "string" ? line : JSON.stringify(line);
  return errorsOfBytes(lines.map(toText).join("\n"));
}

async function errorsOfBytes(bytes: string | Uint8Array): Promise<string[]> {
  const target = join(temporaryFolder(), "snapshot");
  try {
    await importDataset(bytesOf(bytes), target);
    return [];
  } catch (error) {
    expect(listBeside(target)).toEqual([]);
    if (!(error instanceof DatasetError)) throw error;
    return error.message.split("\n");
  }
}

describe("an invalid line is reported with the field and the reason", () => {
  test.each(invalidLines)("%s", async (expected, line) => {
    const found = await errorsOf(role, line);
    expect(found.filter((error) => error.startsWith(`line 2: ${expected}`))).toHaveLength(1);
  });
});

const hidden = { type: "user", id: 1, public: false };

test.each([
  ...[role, achievement, company, user, hidden].map((line) => [line, line] as const),
  [hidden, user],
])("a duplicate id is an error: %j, %j", async (line, other) => {
  expect(await errorsOf(line, other)).toEqual([`line 2: id: duplicate ${line.type} id 1`]);
});

const unlock = { id: 1, tier: 1, unlocked_at: user.created_at };
const references = { company: { id: 1, role: "Owner" }, roles: [1], achievements: [unlock] };

test("a role or achievement that is listed twice for a user is an error", async () => {
  const twice = { ...user, roles: [1, 1], achievements: [unlock, unlock] };
  expect(await errorsOf(role, achievement, twice)).toEqual([
    "line 3: roles[1]: is listed twice (user 1)",
    "line 3: achievements[1].id: is listed twice (user 1)",
  ]);
});

test("a reference may come before the record that it refers to, but the record must exist", async () => {
  const line = { ...user, ...references };
  expect(await errorsOf(line, company, role, achievement)).toEqual([]);
  expect(await errorsOf("", line, "", { ...company, id: 2 })).toEqual([
    "line 2: company.id: there is no company 1 (user 1)",
    "line 2: roles: there is no role 1 (user 1)",
    "line 2: achievements: there is no achievement 1 (user 1)",
  ]);
});

test("an invalid company, role or achievement is one error, however many users reference it", async () => {
  const users = [2, 3].map((id) => ({ ...user, id, ...references }));
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

describe("an error quotes the invalid value, and says what to do about ids that are too large", () => {
  const fix = "; such ids need --id-map FILE";
  const steam = `${fix}, or subtract 76561197960265728 from Steam ids in SQL`;
  test.each<[object | string, ...string[]]>([
    [{ ...role, name: null }, "name: must be a non-blank string of 1 to 200 code points, got null"],
    [{ ...role, name: "x".repeat(300) }, 'got "xxx', 'x…" (300 code points)'],
    [{ ...role, name: "", hierarchy: "\u001b[2J" }, "\\u{1b}[2J"],
    [{ ...user, roles: Array(101).fill(1) }, "role ids, got an array of 101 elements (user 1)"],
    [{ ...role, hierarchy: {} }, "must be an integer, got an object (role 1)"],
    ['{"type":"user","id":76561198012345678,"public":false}', "got 76561198012345678", steam],
    ['{"type":"role", "id": 175928847299117063}', "got 175928847299117063", fix],
    [{ ...user, id: "3f2504e0" }, 'got "3f2504e0"', fix],
    [{ ...user, id: "1.76E+17" }, 'got "1.76E+17"; it looks like a number that a spreadsheet'],
    [{ ...user, id: "175928847299117063" }, 'got "175928847299117063"', fix],
    [{ ...user, id: "76561198012345678" }, 'got "76561198012345678"', steam],
    [{ ...user, id: "anna_k" }, 'got "anna_k"', fix],
    ...["1", '"1"', "'12'", "„7“", "1,234", "1.234", "1 234", "1'234", "1\u00a0234"].map(
      (id): [object, string] => [{ ...user, id }, `got "${id}"`],
    ),
    [{ ...user, id: "Total" }, 'got "Total"', fix],
    [
      { ...user, avatar_url: "a.png" },
      'got "a.png"; --avatar-base URL of import says what a relative one',
    ],
    [{ ...user, created_at: "#REF!" }, 'got "#REF!"; it is an error of a formula in a spreadsheet'],
    [{ ...user, created_at: "5/1/2021" }, 'got "5/1/2021" (user 1)'],
    [{ ...user, roles: ["x".repeat(101)] }, 'got "xxx', 'x…" (101 code points)'],
    [{ ...user, company: { id: 2 ** 60, role: "x" } }, "got 1152921504606847000", fix],
    ["ERROR 1045 (28000)", "line 2: must be a valid JSON object, got plain text"],
  ])("%j", async (line, ...expected) => {
    const text = (await errorsOf(role, line)).join("\n");
    for (const part of expected) expect(text).toContain(part);
  });

  test("a private user's values are never quoted", async () => {
    const secret = { ...user, public: false, name: 7, avatar_url: "secret" };
    const broken = '{"type":"user","id":2,"public":false,"name":"secret"secret"}';
    const unknown = { ...user, id: 3, public: false, secret: 1, company: { secret: 1 } };
    const lines = [secret, broken, `x${broken}`, '"secret"', "4,0,secret", unknown];
    const errors = (await errorsOf(...lines)).join("\n");
    expect(errors).toContain("line 6: has a field that is not known (user 3)");
    expect(errors).toContain("line 6: company: has a field that is not known (user 3)");
    expect(errors).toMatch(
      /^line 1: name: must be a non-blank string of 1 to 200 code points \(user 1\)$/m,
    );
    expect(errors).toContain("line 2: must be a valid JSON object");
    expect(errors).not.toContain("secret");
  });
});

test("errors are grouped by kind with a count", async () => {
  const lines = [
    ...Array.from({ length: 1200 }, (_, index) => ({ ...role, id: index + 1, name: "" })),
    { ...company, member_count: null },
    ...[1, 2].map((id) => ({ ...user, id, roles: [1, null] })),
    { type: "end", lines: 9 },
  ];
  const reason = "must be a non-blank string of 1 to 200 code points";
  const found = await errorsOf(...lines);
  expect(found).toEqual([
    ...[1, 2, 3, 4, 5].map((id) => `line ${id}: name: ${reason}, got "" (role ${id})`),
    "  … and 1,195 more like this (1,200 in all)",
    expect.stringMatching(/^line 1201: member_count: must be .*, got null \(company 1\)$/),
    expect.stringMatching(/^line 1202: roles\[1\]: must be .*, got null \(user 1\)$/),
    expect.stringMatching(/^line 1203: roles\[1\]: must be .*, got null \(user 2\)$/),
    "line 1204: lines: must be 1203 (the number of lines before this one), got 9",
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
  expect(error.errors[1]).toEqual({ line: 2, field: "x1", reason, type: "role", id: 1 });
  expect(error.message).toEndWith("\n… and 20 errors of other kinds");
});

test("the library and --json show the same of an error, and nothing else", async () => {
  const lines = [
    { ...role, name: 7 },
    { ...user, roles: [5] },
  ];
  const target = join(temporaryFolder(), "snapshot");
  const error = await importDataset(lines, target).catch((error) => error);
  const { skipped } = await importDataset(lines, target, { skipInvalid: true, allowShrink: true });
  const shown: RecordError[] = [
    {
      line: 1,
      field: "name",
      reason: "must be a non-blank string of 1 to 200 code points, got 7",
      type: "role",
      id: 1,
    },
    { line: 2, field: "roles", reason: "there is no role 5", type: "user", id: 1 },
  ];
  expect(error.errors).toEqual(shown);
  expect(skipped.groups()).toEqual(shown.map((each) => ({ count: 1, first: [each] })));
});

test("every field accepts the shortest, longest, lowest and highest valid values", async () => {
  const max = Number.MAX_SAFE_INTEGER;
  const truck = (length: number) => "😀".repeat(length);
  const texts = { description: truck(500), icon: truck(200), kind: truck(100) };
  const path = `https://a.example/${"a".repeat(2030)}`;
  expect(
    await errorsOf(
      { ...role, id: max, name: truck(200), hierarchy: -max },
      { ...company, id: max, member_count: max },
      { ...achievement, id: max, tier: max, points: max },
      { ...achievement, ...texts },
      ...[
        path,
        null,
        undefined,
        "http://例え.jp/ü.png",
        "/",
        "/search/users?q=ab",
        "/a/../b.png",
      ].map((avatar_url, at) => ({ ...user, id: 10 + at, avatar_url })),
      { type: "user", id: 7, public: false, avatar_url: null },
      { ...user, id: max, name: "a\u0000b", created_at: "0000-01-01T00:00:00Z" },
      { ...user, id: 2, created_at: "9999-12-31t23:59:59.999999999z", company: null, roles: [] },
      { ...user, id: 3, created_at: "2024-02-29T23:59:59+14:00" },
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
  // The private user's name is not written.
  expect(count).toBe(name === cleaned ? 0 : 5);
  const names = [...(await exported(target)).matchAll(/"(?:name|role)":"([^"]*)"/g)].map(
    ([, each]) => each,
  );
  expect(names).toEqual(Array(5).fill(cleaned));
  const server = await openInProcess({ snapshot: target });
  const { user: shown } = await (await server.fetch("/users/public/1")).json();
  expect([shown.name, shown.company.name, shown.company.role]).toEqual(Array(3).fill(cleaned));
  await server.close();
});

test("names in records that are skipped do not count as cleaned", async () => {
  const name = "a\tb";
  const invalid = [
    { ...role, id: 2, name, hierarchy: "high" },
    { ...company, name },
  ];
  const target = join(temporaryFolder(), "snapshot");
  const lines = [company, { ...role, name }, ...invalid];
  const { cleaned, skipped } = await importDataset(lines as object[], target, {
    skipInvalid: true,
  });
  expect([cleaned, skipped.count]).toEqual([1, 2]);
});

test.each(["", "\u0301\u0903", "\u2800 \u2800", "\u3164", "\u200d"])(
  "a name without a visible character is an error: %j",
  async (name) => {
    const [error] = await errorsOf({ ...company, name: ` \u200b\u0000\t${name}` });
    expect(error).toStartWith("line 1: name: must be a non-blank string of 1 to 200 code points");
  },
);

test.each([false, true])(
  "odd names of public users are counted; --decode-html: %p",
  async (decodeHtml) => {
    const html = ["AT&T", "Tom &amp; Jerry", "&#x141;&nbsp; &amp;lt;", "&copy", "a&b;"];
    const hiddenAddress = "bob&#64;mail.example";
    const misread = ["Å\u0081ukasz", "JosÃ©", "Jos\ufffd Łuk", "?????", "???? ?? (GB)"];
    const empty = [
      ...["NULL", "null", " undefined ", "[object Object]", "N/A", "nan", "None", "NaN", "\\N"],
      ...["#N/A", "#NV", "#BEZUG!", "#NOM ?", "Err:502", "Fehler:502"],
    ];
    const contacts = [
      ...["ann@mail.example", "Ann <ann.b+c@mail.example.org>", "+49 171 1234567", "0171/1234567"],
      ...["(555) 123-4567", "call 555-123-4567"],
    ];
    const fine = [
      ...["Łukasz", "José", "Ãngela", "Ã“scar Ł", "Ã", "naïve ©", "Who?", "Wh??", "?!"],
      ...["Null", "Mr NULL", "Nan", "#1", "#WINNER!", "Error:502", "na"],
      ...["@ann", "ann@home", "Ann 1234567", "Driver007123456", "1-2-3", "2021-05-31"],
    ];
    const people = [...html, ...misread, ...empty, ...contacts, ...fine, hiddenAddress].map(
      (name, at) => ({
        ...user,
        id: at + 3,
        name,
      }),
    );
    const hidden = { type: "user", id: 1, public: false, name: "Dora &amp; Ã¼" };
    const invalid = { ...user, id: 2, name: "Eve &amp; Ã¼", created_at: "never" };
    const described = { ...achievement, description: "&lt;3" };
    const target = join(temporaryFolder(), "snapshot");
    const options = { decodeHtml, skipInvalid: true };
    const kept = { ...user, id: 1000, name: "Kim kim@mail.example", avatar_url: "x y" };
    const lines = [described, company, role, hidden, invalid, ...people, kept];
    const { names } = await importDataset(lines, target, options);
    const entities = decodeHtml ? { count: 0 } : { count: 3, example: "Tom &amp; Jerry" };
    expect(names).toEqual({
      entities,
      misread: { count: misread.length, example: "Å\u0081ukasz" },
      placeholders: { count: empty.length, example: "NULL" },
      contacts: { count: contacts.length + 1 + Number(decodeHtml), example: "ann@mail.example" },
    });
    const decoded = ["Tom & Jerry", "Ł &lt;", "<3"];
    const written = decodeHtml ? decoded : ["Tom &amp; Jerry", "&#x141;&nbsp; &amp;lt;", "&lt;3"];
    const text = await exported(target);
    for (const each of [...written, "AT&T", "&copy", "a&b;"]) expect(text).toContain(`"${each}"`);
  },
);

test("invalid UTF-8 is an error with a line number", async () => {
  const bad = Buffer.from(`${JSON.stringify(role)}\n{"type":"?"}\n`);
  bad[bad.indexOf("?")] = 0xff;
  expect(await errorsOfBytes(bad)).toEqual([
    "line 2: is not valid UTF-8; convert the file, for example with iconv",
  ]);
});

test("CRLF, blank lines, a BOM and a missing final line break are accepted", async () => {
  expect(
    await errorsOf(`\ufeff${JSON.stringify(role)}\r`, "\r", "   ", JSON.stringify(user)),
  ).toEqual([]);
});

test("the example in the README is valid", async () => {
  const readme = await Bun.file(join(root, "README.md")).text();
  const [, example = ""] = /```json\n(.*?)```/s.exec(readme) ?? [];
  expect(example).toContain('"type":"end"');
  expect(await errorsOf(example)).toEqual([]);
});
