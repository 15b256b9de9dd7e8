/** An import from a source that lags behind does not undo a takedown. */
import { describe, expect, test } from "bun:test";
import { version } from "../../src/domain/version.ts";
import { applyChanges } from "../../src/import/apply.ts";
import { hideUsers } from "../../src/import/hide.ts";
import type { ImportOptions } from "../../src/import/import.ts";
import { importDataset } from "../../src/import/import.ts";
import { checkSnapshot } from "../../src/snapshot/format/open.ts";
import { openSnapshot } from "../../src/snapshot/read/reload.ts";
import { community, exported, makeSnapshot, stateOf, user } from "../datasets.ts";
import { finish } from "../support.ts";

const hide = { type: "user", id: 42, public: false };
const show = user(42, "Łukasz Nowak");
const others = community.filter((line) => line.type !== "user" || line.id !== 42);
const changes: Record<string, object> = {
  private: hide,
  show,
  touch: user(45, "Anna"),
  delete: { type: "user", id: 42, deleted: true },
};
const imports: Record<string, [lines: object[], options?: ImportOptions]> = {
  lagging: [[...others, show]],
  agreeing: [[...others, hide]],
  without: [others],
  invalid: [[...others, { ...show, name: "" }], { skipInvalid: true }],
  trusted: [[...others, show], { holdMs: 0 }],
  briefly: [[...others, show], { holdMs: 600_000 }],
  dryRun: [[...others, show], { dryRun: true }],
  forLong: [[...others, show], { holdMs: 7_200_000 }],
};

/** Takes steps such as "hide 0": what to apply or to import, and in which minute. */
async function run(steps: string, path: string): Promise<number | undefined> {
  let held: number | undefined;
  for (const [name = "", minute] of steps.split(", ").map((step) => step.split(" "))) {
    const now = { builtAtMs: Date.UTC(2026, 0, 1, 0, Number(minute)) };
    const [lines, options] = imports[name] ?? [];
    if (lines) ({ held } = await importDataset(lines, path, { ...options, ...now }));
    else if (name === "hide") await hideUsers([42], path, now);
    else await applyChanges([changes[name] ?? {}], path, now);
  }
  return held;
}

test.each([
  ["is kept private", "hide 0, lagging 59", "private", 1],
  ["is kept private after apply", "private 0, private 50, lagging 109", "private", 1],
  ["is public an hour later", "hide 0, lagging 60", "public", 0],
  ["is kept private for an hour after a repetition", "hide 0, hide 50, lagging 109", "private", 1],
  ["is public after a line that says so", "hide 0, show 1, lagging 2", "public", 0],
  ["is kept private without being in the source", "hide 0, without 1", "private", 1],
  ["is private if the source agrees", "hide 0, agreeing 1", "private", 0],
  ["is kept private by all writers", "hide 0, lagging 1, touch 2, lagging 59", "private", 1],
  ["is not held for longer by an import", "hide 0, lagging 30, lagging 60", "public", 0],
  ["is kept deleted", "hide 0, delete 1, lagging 2", "missing", 1],
  ["is kept deleted although private in the source", "delete 0, agreeing 1", "missing", 1],
  ["is kept deleted although invalid in the source", "delete 0, invalid 1", "missing", 1],
  ["is deleted before the first import", "without 0, delete 1, lagging 2", "missing", 1],
  ["is public with --hold 0, and later", "hide 0, trusted 1, lagging 2", "public", 0],
  ["is held in a dry run, which writes nothing", "hide 0, dryRun 1", "private", 1],
  ["is public after --hold", "hide 0, briefly 10", "public", 0],
  ["is held for an hour at most, whatever is asked", "hide 0, forLong 59", "private", 1],
  ["is public after an hour, whatever is asked", "hide 0, forLong 60", "public", 0],
  ["is kept private if the clock goes back", "hide 500, lagging 0, lagging 59", "private", 1],
  ["is public an hour after the clock went back", "hide 500, lagging 0, lagging 60", "public", 0],
])("a user whom apply or hide made private or deleted %s", async (_, steps, state, held) => {
  const path = await makeSnapshot();
  expect(await run(steps, path)).toBe(held);
  const { users, search, meta, close } = await openSnapshot(path);
  const missing = { private: "profile_private", missing: "user_not_found" }[state];
  expect(users.findName(42)).toEqual((missing ? { missing } : show.name) as string);
  expect(finish(search.listUsers("łukasz")).length + Number(meta.featured.includes(42))).toBe(
    missing ? 0 : 2,
  );
  close();
});

test.each([
  ["import", (path: string, now: ImportOptions) => importDataset(community, path, now)],
  ["apply", (path: string, now: ImportOptions) => applyChanges([hide], path, now)],
  ["hide", (path: string, now: ImportOptions) => hideUsers([42], path, now)],
])("%s writes its own time and version", async (_, write) => {
  const path = await makeSnapshot();
  const now = { builtAtMs: Date.UTC(2026, 0, 2, 3, 4, 5) };
  await write(path, now);

  const { built_at, roadbook_version } = await checkSnapshot(path);
  expect({ built_at, roadbook_version }).toEqual({
    built_at: "2026-01-02T03:04:05Z",
    roadbook_version: version,
  });
});

test("hide names the users, may hide the last public one, and is all or nothing", async () => {
  const path = await makeSnapshot();
  const before = stateOf(path);
  const unknown = `not found in ${path}: user 999, user 1000; nothing was written`;
  await expect(hideUsers([42, 999, 1000], path)).rejects.toThrow(unknown);
  expect(stateOf(path)).toEqual(before);
  // A mistyped id in a change file, by contrast, adds a user, and the report says so.
  const { differences } = await applyChanges([{ ...hide, id: 999 }], path);
  expect(differences?.users).toMatchObject({ added: 1, made_private: 0 });
  const { found } = await hideUsers([44, 43, 42, 44], path);
  expect(found).toEqual([
    { id: 44, given: 44, wasPublic: true },
    { id: 43, given: 43, wasPublic: false },
    { id: 42, given: 42, wasPublic: true },
  ]);
  const private_ = [42, 43, 44].map((id) => `{"type":"user","id":${id},"public":false}\n`).join("");
  expect(await exported(path)).toContain(private_);
});

describe("while a takedown is held, no more than two of anything may be lost", () => {
  const minutes = (count: number) => ({ builtAtMs: Date.UTC(2026, 0, 1, 0, count) });
  const people = [1, 2, 3, 4, 5].map((id) => user(id, `User ${id}`));
  const employed = people.map((line) => ({ ...line, company: { id: 3, role: "Driver" } }));
  const base = [{ type: "company", id: 3, name: "Baltic", member_count: 5 }, ...employed];
  const gone = [1, 2, 3].map((id) => ({ type: "user", id, deleted: true }));
  const lost = "would lose 3 of its 5 users; nothing was written (if this is intended, ";
  const elsewhere =
    "import into another --to, hide the users of the last hour there, and move it here)";
  type Write = (path: string, now: { builtAtMs: number }) => Promise<unknown>;

  test.each<[string, string, Write]>([
    [
      "users in an import",
      `${lost}${elsewhere}`,
      (path, now) =>
        importDataset(
          base.filter((line) => !("public" in line) || line.id > 3),
          path,
          now,
        ),
    ],
    [
      "the numbers of rows",
      `(as when rows are renumbered); nothing was written (give each user an id that stays, or if this is intended, ${elsewhere}`,
      (path, { builtAtMs }) => {
        const lines = people.map((line) => ({ ...line, id: (line.id % 5) + 1 }));
        return importDataset(lines, path, {
          builtAtMs,
          allowShrink: true,
          allowRenames: builtAtMs === minutes(60).builtAtMs,
        });
      },
    ],
    [
      "users in a change file",
      `${lost}add --allow-shrink)`,
      (path, now) => applyChanges(gone, path, now),
    ],
    [
      "the companies of users",
      "would lose 4 of its 4 users' companies",
      (path, now) => importDataset([...base.slice(0, 1), ...people], path, now),
    ],
    [
      "users who are invalid",
      "3 of 5 users are invalid, so they would become private",
      (path, now) => {
        const lines = base.map((line) =>
          line.id > 2 && "public" in line ? { ...line, name: "" } : line,
        );
        return importDataset(lines, path, { skipInvalid: true, ...now });
      },
    ],
  ])("%s", async (_, refusal, write) => {
    const path = await makeSnapshot(base);
    await hideUsers([5], path, minutes(0));
    const before = stateOf(path);
    await expect(write(path, minutes(59))).rejects.toThrow(refusal);
    expect(stateOf(path)).toEqual(before);
    await write(path, minutes(60));
  });
});
