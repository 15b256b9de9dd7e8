/** The number of roles and achievements is limited, and all of them up to the limit are found. */
import { beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { applyChanges } from "../../src/import/apply.ts";
import { importDataset } from "../../src/import/import.ts";
import { checkSnapshot } from "../../src/snapshot/format/open.ts";
import { drawBadge } from "../../src/web/drawings.ts";
import { exported, LONG_LIST, longDataset, makeSnapshot, user } from "../datasets.ts";
import { openInProcess, temporaryFolder } from "../support.ts";

const role = (id: number) => ({ type: "role", id, name: `Role ${id}`, hierarchy: id });
const achievement = (id: number) => ({
  type: "achievement",
  id,
  name: `Achievement ${id}`,
  description: "",
  icon: `${id % 50_000}.svg`,
  kind: "distance",
  tier: id > 50_000 ? 3 : 1,
  points: 1,
});

const MAX = { roles: 10_000, achievements: 100_000 };
const reasons = {
  role: "a dataset can have at most 10,000 roles",
  achievement: "a dataset can have at most 100,000 achievement definitions",
};

function listOf<Item>(count: number, make: (id: number) => Item): Item[] {
  return Array.from({ length: count }, (_, index) => make(index + 1));
}

describe("with as many roles and achievements as there may be", () => {
  const ids = listOf(500, (id) => id * 200);
  const unlocked = ids.map((id) => ({ id, tier: 1, unlocked_at: "2024-03-09T17:05:00Z" }));
  const roleIds = listOf(100, (id) => id * 100);
  const lines = [
    ...listOf<object>(MAX.roles, role),
    ...listOf<object>(MAX.achievements, achievement),
    user(1, "Ann", { roles: roleIds, achievements: unlocked }),
  ];
  let snapshot: string;
  beforeAll(async () => {
    snapshot = await makeSnapshot(lines);
  });

  test("all of them are found", async () => {
    expect((await checkSnapshot(snapshot)).counts).toMatchObject(MAX);
    const roadbook = await openInProcess({ snapshot });
    const bodyOf = async (path: string) => (await roadbook.fetch(path)).json();
    const { achievements } = (await bodyOf("/users/1/achievements")) as {
      achievements: { achievement: { id: number; name: string } }[];
    };
    expect(achievements.map((entry) => entry.achievement.id)).toEqual(ids);
    expect(achievements.at(-1)?.achievement.name).toBe("Achievement 100000");
    const profile = (await bodyOf("/users/public/1")) as { user: { roles: { id: number }[] } };
    expect(profile.user.roles.map(({ id }) => id)).toEqual(roleIds.toReversed());
    // Two achievements share this icon. The one with the lower id is drawn.
    const icon = await roadbook.fetch("/icons/7.svg");
    const { kind, ...seventh } = achievement(7);
    expect(await icon.text()).toBe(drawBadge({ ...seventh, type: kind }));
    expect((await roadbook.fetch("/icons/none.svg")).status).toBe(404);
    await roadbook.close();
  });

  test("import refuses more", async () => {
    const more = [role(MAX.roles + 1), achievement(MAX.achievements + 1), role(MAX.roles + 2)];
    const over = [...lines, ...more];
    const error = await importDataset(over, snapshot).catch((one) => one);
    expect([error.name, error.count]).toEqual(["DatasetError", 3]);
    expect(error.message).toContain(`line ${lines.length + 1}: ${reasons.role}`);
    expect(error.message).toContain(`line ${lines.length + 2}: ${reasons.achievement}`);
    const options = { skipInvalid: true, dryRun: true };
    const { counts, skipped } = await importDataset(over, snapshot, options);
    expect(counts).toMatchObject(MAX);
    expect(skipped.count).toBe(3);
  });

  test("apply refuses more, unless others go", async () => {
    const more = [role(MAX.roles + 1), achievement(MAX.achievements + 1)];
    const message = `${reasons.role}\n${reasons.achievement}`;
    const over = applyChanges([role(2), ...more], snapshot);
    await expect(over).rejects.toMatchObject({ name: "DatasetError", message });
    const deletions = ["role", "achievement"].map((type) => ({ type, id: 1, deleted: true }));
    await applyChanges([...more, ...deletions], snapshot);
    expect((await checkSnapshot(snapshot)).counts).toMatchObject(MAX);
  });
});

describe("the achievements of one user take at most 128 KB", () => {
  const long = longDataset(1);
  const unlocks = long.flatMap((line) => ("achievements" in line ? (line.achievements ?? []) : []));
  /** Definitions as long as possible, and a user who has unlocked the first `count` of them. */
  const datasetOf = (count: number) => {
    const more = long[0] && [{ ...long[0], id: LONG_LIST + 1 }];
    const all = [...unlocks, { ...unlocks[0], id: LONG_LIST + 1 }].slice(0, count);
    return [...long.slice(0, -1), ...(more ?? []), user(1, "Nowak", { achievements: all })];
  };
  const error =
    'achievements: must take at most 128 KB in a response, got 130 KB for "Nowak" (user 1)';

  test("and a user just below the limit is imported", async () => {
    const { fetch } = await openInProcess({ dataset: datasetOf(LONG_LIST) });
    const { length } = Buffer.from(await (await fetch("/users/1/achievements")).text());
    expect(length).toBeWithin(125 * 1024, 128 * 1024);
  });

  test("or else the import is refused, or with --skip-invalid leaves out the oldest", async () => {
    const path = join(temporaryFolder(), "snapshot");
    const long = datasetOf(LONG_LIST + 1);
    await expect(importDataset(long, path)).rejects.toThrow(error);
    const { skipped } = await importDataset(long, path, { skipInvalid: true });
    expect(skipped.count).toBe(1);
    const { fetch } = await openInProcess({ snapshot: path });
    const { achievements } = await (await fetch("/users/1/achievements")).json();
    expect(achievements).toHaveLength(LONG_LIST);
  });

  test("without those that do not exist and are therefore removed", async () => {
    const missing = Array.from({ length: 3000 }, (_, at) => {
      return { id: 2_000_000 + at, tier: 1, unlocked_at: "2026-01-01T00:00:00Z" };
    });
    const dataset = [
      ...long.slice(0, -1),
      user(1, "Nowak", { achievements: missing.concat(unlocks.slice(0, 1)) }),
    ];
    const path = join(temporaryFolder(), "snapshot");
    const { skipped } = await importDataset(dataset, path, { skipInvalid: true });
    expect(skipped.count).toBe(missing.length);
    expect(await exported(path)).toContain(`"achievements":[{"id":${unlocks[0]?.id},`);
  });

  test("also after a change that makes a definition longer", async () => {
    const short = datasetOf(LONG_LIST + 1).map((line) =>
      "description" in line && line.id > 20 ? { ...line, description: "" } : line,
    );
    const path = await makeSnapshot(short);
    const changes = datasetOf(1).filter((line) => "description" in line && line.id > 20);
    await expect(applyChanges(changes, path)).rejects.toThrow(error);
  });
});
