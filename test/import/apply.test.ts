/** `apply` has the same result as importing the changed dataset, or leaves the file as it was. */
import { describe, expect, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { runCommandLine } from "../../src/commands/command-line.ts";
import { seedDataset } from "../../src/community/community.ts";
import type { RecordId } from "../../src/domain/records.ts";
import { applyChanges } from "../../src/import/apply.ts";
import { checkSnapshot } from "../../src/snapshot/format/open.ts";
import { openSnapshot } from "../../src/snapshot/read/reload.ts";
import {
  community,
  exported,
  makeFile,
  makeSnapshot,
  responsesOf,
  stateOf,
  user,
} from "../datasets.ts";
import { runs } from "../runs.ts";

type Change = { type: string; id: number; deleted?: true };

const gone = (type: string, id: number) => ({ type, id, deleted: true });
const hide = (id: number) => ({ type: "user", id, public: false });
const keyOf = ({ type, id }: Change) => `${type} ${id}`;

/** Returns the lines of a dataset with the changes applied. */
function edited(lines: object[], changes: object[]): object[] {
  const byId = new Map((lines as Change[]).map((line) => [keyOf(line), line]));
  for (const change of changes as Change[]) {
    if (change.deleted) byId.delete(keyOf(change));
    else byId.set(keyOf(change), change);
  }
  return [...byId.values()];
}

const queries =
  "no,nowak,an,a,zu,lukasz nowak,ex,trans,aa,ab,b a,re,renamed,renamed 1,newcomer,kar,karavaan 3,bunch,wo";

/** Expects the same counts, responses and export from a snapshot and one made from `dataset`. */
async function expectSame(path: string, dataset: object[]): Promise<void> {
  const expected = await makeSnapshot(dataset);
  expect(await exported(path)).toBe(await exported(expected));
  const found = await openSnapshot(path);
  const wanted = await openSnapshot(expected);
  const { counts, unlocked, featured } = wanted.meta;
  expect(found.meta).toMatchObject({ counts, unlocked, featured });
  const asked = queries.split(",");
  expect(responsesOf(found, asked)).toEqual(responsesOf(wanted, asked));
  for (const { close } of [found, wanted]) close();
  await checkSnapshot(path);
}

const name = fc
  .oneof(
    fc.string({ unit: fc.constantFrom("a", "b", "A", " ", "á"), minLength: 1, maxLength: 6 }),
    fc.constantFrom("Łukasz Nowak", "Żubr", "An an", "東京", "Nowak", "Новак", "x".repeat(200)),
  )
  .filter((text) => text.trim() !== "");
const id = fc.integer({ min: 1, max: 40 });
const unlock = { id: 7, tier: 1, unlocked_at: "2024-03-09T17:05:00Z" };
const achievements = fc.constantFrom([], [unlock]);
const change = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ id, name, achievements }).map(({ id, name, achievements }) => {
      return user(id, name, { roles: [1], achievements });
    }),
  },
  id.map(hide),
  fc
    .record({
      id: fc.integer({ min: 3, max: 20 }),
      name,
      member_count: fc.integer({ min: 0, max: 4 }),
    })
    .map((company) => ({ type: "company", ...company })),
);
const changes = fc.uniqueArray(change, { selector: keyOf, maxLength: 25 });

test("apply gives the same responses and export as an import of the changed dataset", async () => {
  await fc.assert(
    fc.asyncProperty(changes, changes, fc.boolean(), async (first, second, deletes) => {
      const path = await makeSnapshot();
      const changed = new Set(first.map(keyOf));
      const last = second.map((line) =>
        deletes && line.type === "user" && changed.has(keyOf(line)) ? gone("user", line.id) : line,
      );
      await applyChanges(first, path, { allowShrink: true });
      await applyChanges(last, path, { allowShrink: true });
      await expectSame(path, edited(edited(community, first), last));
    }),
    { numRuns: runs(20), seed: 4 },
  );
});

test("many changes to a large community give the same results as a new import", async () => {
  const seeded = [...seedDataset({ users: 3000, companies: 240, seed: 1 })];
  let lines: object[] = seeded;
  const path = await makeSnapshot(lines);
  const people = seeded.filter((line) => line.type === "user" && line.public);
  const companies = seeded.filter((line) => line.type === "company");
  const rounds: object[][] = [
    people.slice(0, 8).map(({ id }) => hide(id)),
    people.slice(500, 520).map((line, index) => ({ ...line, name: `Renamed ${index}` })),
    people.slice(900, 910).map(({ id }) => gone("user", id)),
    companies.slice(0, 4).map((line) => ({ ...line, member_count: 1 })),
    companies.slice(40, 44).map((line, index) => ({ ...line, name: `Karavaan ${index}` })),
    // Gives many names the same length, so that no rank near them stays free.
    people.slice(1500, 1530).map((line) => ({ ...line, name: `Bunch ${line.id}`.slice(0, 9) })),
    Array.from({ length: 30 }, (_, index) => user(1_000_000 + index, `Newcomer ${index % 7}`)),
    people.slice(500, 515).map(({ id }) => hide(id)),
    [{ ...people[700], avatar_url: "/only-this.png" }],
  ];
  for (const changes of rounds) {
    await applyChanges(changes, path);
    lines = edited(lines, changes);
  }
  await expectSame(path, lines);
});

test("apply deletes thousands of companies in a few seconds", async () => {
  const companies = Array.from({ length: 8000 }, (_, at) => {
    return { type: "company", id: 1_000_000 + at, name: "Ghost", member_count: 0 };
  });
  const seeded = seedDataset({ users: 3000, companies: 40, seed: 1 }).toArray();
  const path = await makeSnapshot([...seeded, ...companies]);
  const options = { allowShrink: true };
  const { counts } = await applyChanges(
    companies.map(({ id }) => gone("company", id)),
    path,
    options,
  );
  expect(counts.companies).toBe(40);
});

describe("apply rejects an invalid change file and changes nothing on disk", () => {
  const isReferenced = (name: string, user: number) =>
    `line 1: id: ${name} is still referenced (user ${user})`;
  test.each<[string, object[], ...string[]]>([
    [
      "a deletion of a company that users refer to",
      [gone("company", 3)],
      ...[42, 44].map((user) => isReferenced("company 3", user)),
    ],
    ["a deletion of a user's role", [gone("role", 2)], isReferenced("role 2", 42)],
    [
      "two lines with the same id",
      [hide(44), gone("user", 44)],
      "line 2: id: duplicate user id 44",
    ],
    [
      "a reference to a record that the same file deletes",
      [gone("achievement", 7), user(50, "X Y", { achievements: [unlock] })],
      isReferenced("achievement 7", 50),
    ],
    [
      "a deletion with other fields",
      [{ ...gone("user", 44), public: false }],
      "line 1: public: is not a known field (user 44)",
    ],
    [
      "a deletion with the value false",
      [{ ...gone("user", 44), deleted: false }],
      "line 1: deleted: must be true, got false (user 44)",
    ],
  ])("%s", async (_, lines, ...expected) => {
    const path = await makeSnapshot();
    const before = stateOf(path);
    const { name, message } = await applyChanges(lines, path).catch((error) => error);
    expect([name, ...message.split("\n")]).toEqual(["DatasetError", ...expected]);
    expect(stateOf(path)).toEqual(before);
  });
});

test("applying a change file twice has the same effect as applying it once", async () => {
  const path = await makeSnapshot();
  // The company is deleted before the last references to it are removed.
  const lines = [
    ...[gone("role", 9), gone("achievement", 7), gone("company", 3), gone("user", 44)],
    user(42, "Łukasz Nowak"),
  ];
  await applyChanges(lines, path);
  const once = await exported(path);
  await applyChanges(lines, path);
  expect(await exported(path)).toBe(once);
  expect(once).toBe(await exported(await makeSnapshot(edited(community, lines))));
});

test("apply reports what has changed, and what it did not find", async () => {
  const night = { id: 7, tier: 1, unlocked_at: "2024-03-09T17:05:00Z" };
  const path = await makeSnapshot([...community, user(50, "A", { achievements: [night] })]);
  const changes = [
    ...[user(43, "B"), user(51, "C", { achievements: [night] }), user(44, "Nora")],
    ...[hide(50), gone("user", 42), gone("user", 99), gone("company", 99)],
  ];
  const { differences, notFound } = await applyChanges(changes, path);
  expect(differences).toEqual({
    users: { added: 1, removed: 1, made_private: 1, made_public: 1 },
    unlocked_achievements: { before: 1, after: 1 },
    changed: { names: 1, avatars: 0, companies: 1, roles: 0 },
    lost: { avatars: 0, companies: 1, roles: 0 },
  });
  expect(notFound).toEqual(["user", "company"].map((type) => ({ type, id: 99 }) as RecordId));
});

test("apply reports five errors of each kind, or more with --max-errors", async () => {
  const path = await makeSnapshot();
  const lines = Array.from({ length: 30 }, (_, at) => ({ type: "user", id: at + 100, deleted: 1 }));
  const words = ["apply", makeFile(lines), "--to", path];
  for (const [more, count] of [
    [[], 5],
    [["--max-errors", "30"], 30],
  ] as const) {
    const error: Error = await runCommandLine([...words, ...more]).catch((one) => one);
    expect(error.message).toStartWith("30 errors in the changes; nothing was written\nline 1: del");
    expect(error.message.match(/line \d+: deleted: must be true, got 1/g)).toHaveLength(count);
  }
});

test("apply removes most users only with --allow-shrink", async () => {
  const people = Array.from({ length: 20 }, (_, at) => user(at + 1, "Ann"));
  const path = await makeSnapshot(people);
  const before = stateOf(path);
  const lines = people.slice(9).map(({ id }) => gone("user", id));
  const error = `${path} would lose 11 of its 20 users; nothing was written`;
  await expect(applyChanges(lines, path)).rejects.toThrow(error);
  expect(stateOf(path)).toEqual(before);
  await applyChanges(lines, path, { allowShrink: true });
  expect(await exported(path)).toBe(await exported(await makeSnapshot(people.slice(0, 9))));
});

test("a snapshot that has lost most of its users is intact, and as large as before", async () => {
  const people = Array.from({ length: 2000 }, (_, at) => user(at + 1, `Driver ${at}`));
  const path = await makeSnapshot(people);
  const before = statSync(path).size;
  const lines = people.slice(500).map(({ id }) => gone("user", id));
  await applyChanges(lines, path, { allowShrink: true });
  expect(statSync(path).size).toBeWithin(before, 1.1 * before);
  await checkSnapshot(path);
  expect(await exported(path)).toBe(await exported(await makeSnapshot(people.slice(0, 500))));
});

test("apply takes down one of two public users, who has most achievements", async () => {
  const path = await makeSnapshot([
    ...community.filter(({ id }) => id !== 42),
    user(42, "A", { achievements: [unlock] }),
  ]);
  await applyChanges([hide(42)], path);
});

test("applying changes to a file that is missing or no intact snapshot is an error", async () => {
  const path = await makeSnapshot();
  const bytes = readFileSync(path);
  bytes[bytes.indexOf("Nora")] = "D".charCodeAt(0);
  writeFileSync(path, bytes);
  for (const [target, reason] of [
    [`${path}-none`, /-none cannot be read: no such file or directory$/],
    [makeFile(community), /build one with roadbook import DATASET --to FILE$/],
    [path, /is damaged: its checksum does not match$/],
  ] as const) {
    await expect(applyChanges([], target)).rejects.toThrow(reason);
  }
  expect(readFileSync(path).equals(bytes)).toBe(true);
});
