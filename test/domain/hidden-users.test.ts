/**
 * With --skip-invalid, a skipped line that might make a user private hides the user, or the import
 * fails.
 */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { parseLine } from "../../src/domain/dataset.ts";
import { findHiddenUsers } from "../../src/domain/hidden-users.ts";
import { importDataset } from "../../src/snapshot/import/import.ts";
import { textOf, user } from "../datasets.ts";
import { runs } from "../runs.ts";
import { openInProcess, temporaryFolder } from "../support.ts";

const hidden = { type: "user", id: 42, public: false };
const long = "x".repeat(2 ** 20);
const evelyn = user(42, "Evelyn");
const others = [user(3, "Bea"), user(1, "Ann")];

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/**
 * Imports `line` after lines that make users 42, 3 and 1 public. Returns the HTTP status of each
 * user's profile.
 */
async function importBeside(line: string): Promise<number[]> {
  const snapshot = join(temporaryFolder(), "snapshot");
  const lines = `${textOf([evelyn, ...others])}${line}\n`;
  await importDataset(bytesOf(lines), snapshot, { skipInvalid: true });
  const isLeft = readFileSync(snapshot, "latin1").toLowerCase().includes("evelyn");
  const { fetch } = await openInProcess({ snapshot });
  const statuses = await Promise.all(
    [42, 3, 1].map(async (id) => (await fetch(`/users/public/${id}`)).status),
  );
  expect(isLeft).toBe(statuses[0] === 200);
  return statuses;
}

describe("a skipped line hides the user that it mentions", () => {
  test.each([
    ["a private line over 1 MiB", JSON.stringify({ ...hidden, name: long })],
    [
      "a line over 1 MiB that says public in the part that is read",
      JSON.stringify({ ...evelyn, nick: long }),
    ],
    [
      "a private line over 1 MiB without a type",
      JSON.stringify({ id: 42, name: long, public: false }),
    ],
    [
      "the member name id with an escaped letter",
      String.raw`{"type":"user","\u0069d":42,"public":false,"x":1}`,
    ],
    [
      "the member name public with an escaped letter",
      String.raw`{"type":"user","id":42,"publi\u0063":false,"x":1}`,
    ],
    ["the type user with an escaped letter", String.raw`{"type":"\u0075ser","id":42,"x":1}`],
    ["a quoted and escaped id", String.raw`{"type":"user","id":"\u00342","public":false}`],
    ["an id with a leading zero", '{"type":"user","id":042,"public":false}'],
    ["an id with a fraction and an exponent", '{"type":"user","id":0.42e2,"public":false,"x":1}'],
    ["an array", JSON.stringify([hidden])],
    ["an array in an array", JSON.stringify([[hidden]])],
    ["an array with other records", JSON.stringify([others[0], hidden, { type: "role", id: 1 }])],
    ["an object inside another", JSON.stringify({ data: hidden })],
    [
      "a nested object with only id and public",
      JSON.stringify({ user: { id: 42, public: false } }),
    ],
    ["an object in a JSON string", JSON.stringify(JSON.stringify(hidden))],
    [
      "an object in a JSON string in a JSON string",
      JSON.stringify(JSON.stringify(JSON.stringify(hidden))),
    ],
    [
      "two records without a line break between them",
      `${JSON.stringify(others[0])}${JSON.stringify(hidden)}`,
    ],
    [
      "members after deeply nested arrays",
      `{"x":${"[".repeat(20)}${"]".repeat(20)},${JSON.stringify(hidden).slice(1)}`,
    ],
    [
      "a line that is cut off in the middle of a name",
      '{"type":"user","id":42,"public":false,"name":"Ev',
    ],
    ["an extra quote before public", '{"type":"user","id":42,"name":"E"E","public":false}'],
    [
      "no quotes around the name of the last member",
      '{"type":"user","id":42,"public":true,public:false}',
    ],
    ["a missing type", JSON.stringify({ id: 42 })],
    ["public in upper case", JSON.stringify({ ...evelyn, public: undefined, PUBLIC: true })],
    ["a missing opening bracket", JSON.stringify(hidden).slice(1)],
  ])("%s", async (_, line) => {
    const [evelyns, bea, ann] = await importBeside(line);
    expect(evelyns).toBe(403);
    // Some of the lines mention user 3, but clearly say that she is public.
    expect([bea, ann]).toEqual([200, 200]);
  });
});

describe("an import fails if a line might make a user private but has no readable id", () => {
  test.each([
    ["over 1 MiB, with the id after the first 1 MiB", JSON.stringify({ name: long, ...hidden })],
    [
      "over 1 MiB, with the id cut off",
      `{"type":"user","name":"${long.slice(0, 2 ** 20 - 30)}","id":42424242}`,
    ],
    ["over 1 MiB of a single letter", `${long}x`],
    ["a missing id", JSON.stringify({ ...hidden, id: undefined })],
    ["an id that is a word", JSON.stringify({ ...hidden, id: "forty-two" })],
    ["an empty id", JSON.stringify({ ...hidden, id: "" })],
    ["an id in an array", JSON.stringify({ ...hidden, id: [42] })],
    ["an id that is cut off", '{"type":"user","id":4'],
    ["two ids, one of them null", '{"type":"user","id":1,"id":null,"public":false}'],
    [
      "an array of two users, one without an id",
      JSON.stringify([hidden, { ...hidden, id: undefined }]),
    ],
    ["nested too deeply", "[".repeat(20) + JSON.stringify(hidden) + "]".repeat(20)],
    [
      "a string wrapped seven times",
      Array(7).fill(0).reduce(JSON.stringify, JSON.stringify(hidden)),
    ],
    ["single quotes", "{'type':'user','id':42,'public':False}"],
    [
      "an array of two users, with an extra quote in the first",
      '[{"type":"user","id":3,"public":true,"name":"B"B"},{"type":"user","id":42,"public":false}]',
    ],
    ["no quotes", "{type:user,id:42,public:false}"],
    ["a missing quote", '{"name":"Evelyn,"type":"user","id":42,"public":false}'],
  ])("%s", async (_, line) => {
    const path = join(temporaryFolder(), "snapshot");
    const text = `${textOf([evelyn])}${line}\n`;
    const importing = importDataset(bytesOf(text), path, {
      skipInvalid: true,
    });
    await expect(importing).rejects.toThrow(
      "line 2: cannot be skipped: it may make a user private, but has no id that can be read; correct or remove it",
    );
    expect(existsSync(path)).toBe(false);
  });
});

test.each([
  ["an opening bracket", "{"],
  ["a word", "hello"],
  ["a number", "42"],
  ["an invalid company", '{"type":"company","id":42,"name":""}'],
  ["a company in an array", '[{"type":"company","id":42,"name":"A","member_count":1}]'],
  ["a company over 1 MiB", `{"type":"company","id":42,"name":"${long}"}`],
  [
    "a company with the word private in its name",
    '{"type":"company","id":42,"name":"A "private" club"}',
  ],
  [
    "a public user whose company has the id 42",
    '{"type":"user","id":9,"public":true,"company":{"id":42}}',
  ],
  ["a public user without an id", '{"type":"user","public":true}'],
  ["another private user", '{"type":"user","id":9,"public":false,"x":1}'],
  ["an id that no user can have", '{"type":"user","id":0,"public":false}'],
  ["an id over the maximum", '{"type":"user","id":9007199254740993,"public":false}'],
  ["an unknown type", '{"type":"truck","wheels":42}'],
])("%s hides no user", async (_, line) => {
  expect(await importBeside(line)).toEqual([200, 200, 200]);
});

test("a private user's line with an error anywhere hides the user or makes the import fail", () => {
  const digits = "987654321";
  const line = `{"type":"user", "id":${digits}, "public":false, "name":"Eve \\"Lyn\\"", "company":{"id":3,"role":"x"}, "roles":[1]}`;
  const from = line.indexOf(digits);
  const at = fc.nat(line.length).filter((at) => at < from || at > from + digits.length);
  const edit = fc.record({
    at,
    cut: fc.nat(3),
    insert: fc.oneof(
      fc.constantFrom("", '"', "\\", "{", "}", "[", "]", ",", ":", " ", "\\u0022", "1", "true"),
      fc.string({ maxLength: 3 }),
    ),
  });
  fc.assert(
    fc.property(edit, ({ at, cut, insert }) => {
      const to = at < from ? Math.min(at + cut, from) : at + cut;
      const text = line.slice(0, at) + insert + line.slice(to);
      const parsed = parseLine(text);
      // If the edit adds a digit to the id, the line is about a different user.
      const [, id] = /\D(\d*987654321\d*)\D/.exec(text) ?? [];
      if (id !== digits || !Array.isArray(parsed)) return;
      expect(findHiddenUsers(text) ?? [Number(digits)]).toContain(Number(digits));
    }),
    { numRuns: runs(5000), seed: 20 },
  );
});

test("an adversarial line takes time proportional to its length", () => {
  for (const part of [
    "[",
    '{"id":1},',
    '{"a":',
    '"',
    "\\u0022",
    'public":',
    '"type":"user",',
    '"\\',
  ]) {
    const text = part.repeat(2 ** 20 / part.length);
    const found = findHiddenUsers(text, true);
    expect(found === undefined || found.length > 0).toBe(true);
  }
});
