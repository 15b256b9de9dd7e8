/** With --skip-invalid, a wrong line that may hide a user hides that user, or the import fails. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { parseLine } from "../../src/domain/dataset.ts";
import { findHiddenUsers } from "../../src/domain/hidden-users.ts";
import { importDataset } from "../../src/snapshot/build/import.ts";
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

/** Imports a line after one that says that user 42 is public; the status of users 42, 3 and 1. */
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

describe("a line that is left out hides the user it names", () => {
  test.each([
    ["a private line over 1 MiB", JSON.stringify({ ...hidden, name: long })],
    ["the same, public as far as it is read", JSON.stringify({ ...evelyn, nick: long })],
    ["the same, without a type", JSON.stringify({ id: 42, name: long, public: false })],
    ["the name id escaped", String.raw`{"type":"user","\u0069d":42,"public":false,"x":1}`],
    ["the name public escaped", String.raw`{"type":"user","id":42,"publi\u0063":false,"x":1}`],
    ["the type escaped", String.raw`{"type":"\u0075ser","id":42,"x":1}`],
    ["an id in quotes, escaped", String.raw`{"type":"user","id":"\u00342","public":false}`],
    ["an id with a zero in front", '{"type":"user","id":042,"public":false}'],
    ["an id as a fraction and exponent", '{"type":"user","id":0.42e2,"public":false,"x":1}'],
    ["a list", JSON.stringify([hidden])],
    ["a list in a list", JSON.stringify([[hidden]])],
    ["a list of something else, too", JSON.stringify([others[0], hidden, { type: "role", id: 1 }])],
    ["an object around it", JSON.stringify({ data: hidden })],
    ["an object with only what is needed", JSON.stringify({ user: { id: 42, public: false } })],
    ["a string", JSON.stringify(JSON.stringify(hidden))],
    ["a string in a string", JSON.stringify(JSON.stringify(JSON.stringify(hidden)))],
    ["two lines run together", `${JSON.stringify(others[0])}${JSON.stringify(hidden)}`],
    [
      "members behind what is nested deeply",
      `{"x":${"[".repeat(20)}${"]".repeat(20)},${JSON.stringify(hidden).slice(1)}`,
    ],
    ["a name that is cut off", '{"type":"user","id":42,"public":false,"name":"Ev'],
    ["a quote too many before it says so", '{"type":"user","id":42,"name":"E"E","public":false}'],
    ["no quotes around the last member", '{"type":"user","id":42,"public":true,public:false}'],
    ["no type", JSON.stringify({ id: 42 })],
    ["public in capitals", JSON.stringify({ ...evelyn, public: undefined, PUBLIC: true })],
    ["no bracket in front", JSON.stringify(hidden).slice(1)],
  ])("%s", async (_, line) => {
    const [evelyns, bea, ann] = await importBeside(line);
    expect(evelyns).toBe(403);
    // Bea is in one of the lists, by a line that says public.
    expect([bea, ann]).toEqual([200, 200]);
  });
});

describe("an import fails when a line may hide a user and does not say whom", () => {
  test.each([
    ["over 1 MiB, the id behind it", JSON.stringify({ name: long, ...hidden })],
    [
      "over 1 MiB, the id cut",
      `{"type":"user","name":"${long.slice(0, 2 ** 20 - 30)}","id":42424242}`,
    ],
    ["over 1 MiB of nothing", `${long}x`],
    ["no id", JSON.stringify({ ...hidden, id: undefined })],
    ["an id that is a word", JSON.stringify({ ...hidden, id: "forty-two" })],
    ["an id that is empty", JSON.stringify({ ...hidden, id: "" })],
    ["an id in a list", JSON.stringify({ ...hidden, id: [42] })],
    ["an id that breaks off", '{"type":"user","id":4'],
    ["two ids, one of which is none", '{"type":"user","id":1,"id":null,"public":false}'],
    ["a list of two, one without id", JSON.stringify([hidden, { ...hidden, id: undefined }])],
    ["nested too deeply", "[".repeat(20) + JSON.stringify(hidden) + "]".repeat(20)],
    ["a string seven times over", Array(7).fill(0).reduce(JSON.stringify, JSON.stringify(hidden))],
    ["other quotes", "{'type':'user','id':42,'public':False}"],
    [
      "two in a list, and a quote too many in the first",
      '[{"type":"user","id":3,"public":true,"name":"B"B"},{"type":"user","id":42,"public":false}]',
    ],
    ["no quotes", "{type:user,id:42,public:false}"],
    ["a quote that is missing", '{"name":"Evelyn,"type":"user","id":42,"public":false}'],
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
  ["nothing", "{"],
  ["a word", "hello"],
  ["a number", "42"],
  ["a company that is wrong", '{"type":"company","id":42,"name":""}'],
  ["a company in a list", '[{"type":"company","id":42,"name":"A","member_count":1}]'],
  ["a company over 1 MiB", `{"type":"company","id":42,"name":"${long}"}`],
  ["a company of private users", '{"type":"company","id":42,"name":"A "private" club"}'],
  [
    "a public user whose company has that id",
    '{"type":"user","id":9,"public":true,"company":{"id":42}}',
  ],
  ["a public user without id", '{"type":"user","public":true}'],
  ["another private user", '{"type":"user","id":9,"public":false,"x":1}'],
  ["an id that no user can have", '{"type":"user","id":0,"public":false}'],
  ["an id that is too large", '{"type":"user","id":9007199254740993,"public":false}'],
  ["a truck", '{"type":"truck","wheels":42}'],
])("%s hides nobody", async (_, line) => {
  expect(await importBeside(line)).toEqual([200, 200, 200]);
});

test("whatever is wrong in one place of a private line, it hides its user or is refused", () => {
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
      // A digit next to the id makes it another one.
      const [, id] = /\D(\d*987654321\d*)\D/.exec(text) ?? [];
      if (id !== digits || !Array.isArray(parsed)) return;
      expect(findHiddenUsers(text) ?? [Number(digits)]).toContain(Number(digits));
    }),
    { numRuns: runs(5000), seed: 20 },
  );
});

test("a line that is made to be hard takes time with its length", () => {
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
