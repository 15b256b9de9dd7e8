/** Duplicate members, which JSON.parse would hide, are found however the JSON is written. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseLine } from "../../src/domain/dataset.ts";
import { countMembers, listMembers } from "../../src/domain/json-members.ts";
import { runs } from "../runs.ts";

/** A JSON value whose objects may have duplicate members. */
type Tree = string | number | boolean | null | Tree[] | { members: [string, Tree][] };

const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "small", maxDepth: 5 },
    fc.string({ unit: "binary", maxLength: 8 }),
    fc.constantFrom('":', '\\"', "\\", '{"a":1}', "[", "}", ","),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("tree"), { maxLength: 4 }),
    fc.record({
      members: fc.array(
        fc.tuple(fc.oneof(fc.constantFrom("a", "b", '"', "\\"), fc.string()), tie("tree")),
        { maxLength: 5 },
      ),
    }),
  ),
}));

/** Writes a value as JSON, with white space and escapes chosen by `noise`. */
function write(value: Tree, noise: () => number): string {
  const space = () => ["", "", "", " ", "\t", "\r "][noise() % 6] ?? "";
  const join = (parts: string[]) => parts.join(`${space()},${space()}`);
  if (Array.isArray(value)) return `[${space()}${join(value.map((item) => write(item, noise)))}]`;
  if (typeof value === "object" && value !== null) {
    const members = value.members.map(
      ([name, member]) => `${literal(name, noise)}${space()}:${space()}${write(member, noise)}`,
    );
    return `{${space()}${join(members)}${space()}}`;
  }
  return typeof value === "string" ? literal(value, noise) : JSON.stringify(value);
}

function literal(text: string, noise: () => number): string {
  if (noise() % 3 > 0) return JSON.stringify(text);
  const escaped = text
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return `"${escaped.join("")}"`;
}

/** Returns the paths of all members, and the paths of the members that are duplicates. */
function pathsOf(value: Tree, path = ""): { all: string[]; duplicates: string[] } {
  const found = { all: [] as string[], duplicates: [] as string[] };
  const visit = (child: Tree, at: string) => {
    const inside = pathsOf(child, at);
    found.all.push(...inside.all);
    found.duplicates.push(...inside.duplicates);
  };
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) visit(item, `${path}[${index}]`);
  } else if (typeof value === "object" && value !== null) {
    const names = new Set<string>();
    for (const [name, member] of value.members) {
      const at = path === "" ? name : `${path}.${name}`;
      found.all.push(at);
      if (names.has(name)) found.duplicates.push(at);
      names.add(name);
      visit(member, at);
    }
  }
  return found;
}

test("every member and every duplicate is found", () => {
  fc.assert(
    fc.property(tree, fc.infiniteStream(fc.nat(1000)), (value, stream) => {
      const text = write(value, () => stream.next().value ?? 0);
      JSON.parse(text);
      const { all, duplicates } = pathsOf(value);
      const members = [...listMembers(text)];
      expect(countMembers(text)).toBe(all.length);
      expect(members.map(({ path }) => path)).toEqual(all);
      expect(members.filter(({ isDuplicate }) => isDuplicate).map(({ path }) => path)).toEqual(
        duplicates,
      );
      for (const { valueAt } of members) expect(text[valueAt]).toMatch(/["{[\-0-9tfn]/);
    }),
    { numRuns: runs(200), seed: 7 },
  );
});

const unlock = { id: 1, tier: 1, unlocked_at: "2024-01-01T00:00:00Z" };
const lines: object[] = [
  { type: "role", id: 1, name: '":"', hierarchy: 1 },
  { type: "company", id: 1, name: "\\", member_count: 1 },
  { type: "user", id: 1, public: false },
  {
    type: "user",
    id: 1,
    public: true,
    name: '{"public":false}',
    avatar_url: "https://a.example:8080/a.png",
    created_at: "2024-01-01T00:00:00Z",
    company: { id: 1, role: ":" },
    roles: [1, 2],
    achievements: [unlock, { ...unlock, id: 2 }],
  },
];

function treeOf(value: unknown): Tree {
  if (Array.isArray(value)) return value.map(treeOf);
  if (typeof value !== "object" || value === null) return value as Tree;
  return { members: Object.entries(value).map(([name, member]) => [name, treeOf(member)]) };
}

/** All objects in a tree, including the root. */
function objectsIn(value: Tree): { members: [string, Tree][] }[] {
  if (Array.isArray(value)) return value.flatMap(objectsIn);
  if (typeof value !== "object" || value === null) return [];
  return [value, ...value.members.flatMap(([, member]) => objectsIn(member))];
}

test("a line is valid however its JSON is written, and any duplicate member makes it invalid", () => {
  const from = fc.constantFrom(...lines);
  fc.assert(
    fc.property(from, fc.nat(), fc.nat(), fc.infiniteStream(fc.nat(1000)), (line, a, b, stream) => {
      const noise = () => stream.next().value ?? 0;
      const value = treeOf(line);
      expect(parseLine(write(value, noise))).toEqual(line as never);

      const objects = objectsIn(value);
      const members = objects[a % objects.length]?.members ?? [];
      const [name, member] = members[b % members.length] ?? ["", null];
      members.splice(noise() % (members.length + 1), 0, [name, member]);
      const errors = parseLine(write(value, noise));
      expect(errors).toEqual([
        {
          field: expect.stringMatching(new RegExp(`\\b${name}$`)),
          reason: "appears more than once",
        },
      ]);
    }),
    { numRuns: runs(100), seed: 8 },
  );
});

describe("an adversarial line of 1 MiB is reported like any other invalid line", () => {
  const size = 2 ** 20 - 40;
  const line = (more: string) => `{"type":"user","public":true,${more}}`;
  test.each([
    ["unclosed brackets", "[".repeat(size)],
    ["unclosed objects", '{"a":'.repeat(size / 5)],
    ["nested brackets", line(`"x":${"[".repeat(size / 2)}${"]".repeat(size / 2)}`)],
    ["a number of a million digits", line(`"id":1${"9".repeat(size)}`)],
    ["many members", line(Array.from({ length: 90_000 }, (_, at) => `"k${at}":1`).join())],
    ["many duplicates of one member", line(Array(150_000).fill('"k":1').join())],
    ["an array of invalid ids", line(`"roles":[${Array(500_000).fill(0).join()}]`)],
    ["empty achievements", line(`"achievements":[${Array(300_000).fill("{}").join()}]`)],
    ["backslashes", line(`"name":"${"\\\\".repeat(size / 2)}"`)],
    ["escaped quotes", line(`"name":"${'\\"'.repeat(size / 2)}"`)],
    ["unclosed quotes", '"'.repeat(size - 1)],
  ])("%s", (_, text) => {
    const errors = parseLine(text);
    if (!Array.isArray(errors)) throw new Error("the line is valid");
    expect(errors.length).toBeWithin(1, 21);
    for (const { field, reason } of errors) expect(`${field}${reason}`.length).toBeLessThan(200);
  });
});
