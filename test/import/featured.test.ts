/** The start page features the drivers with the most points unless the operator chooses others. */
import { expect, test } from "bun:test";
import type { ChangeLine } from "../../src/domain/dataset.ts";
import { applyChanges } from "../../src/import/apply.ts";
import { importDataset } from "../../src/import/import.ts";
import { checkSnapshot } from "../../src/snapshot/format/open.ts";
import { bytesOf, exported, makeSnapshot, user } from "../datasets.ts";
import { openInProcess, temporaryFolder } from "../support.ts";

const achievement = (id: number, points: number) => ({
  type: "achievement" as const,
  id,
  points,
  name: `A ${id}`,
  description: "",
  icon: "a.svg",
  kind: "time",
  tier: 1,
});
const driver = (id: number, ...unlocked: number[]) =>
  user(id, `Driver ${id}`, {
    achievements: unlocked.map((id) => ({ id, tier: 1, unlocked_at: "2024-03-09T17:05:00Z" })),
  });

/** Driver N has 10 × N points, except driver 6, who has as many as driver 5. User 21 is private. */
const lines = [
  ...Array.from({ length: 20 }, (_, at) => driver(at + 1, ...(at === 5 ? [5] : [at + 1]))),
  ...Array.from({ length: 20 }, (_, at) => achievement(at + 1, 10 * (at + 1))),
  { type: "user", id: 21, public: false },
];
const range = (from: number, to: number) =>
  Array.from({ length: from - to + 1 }, (_, at) => from - at);

const featuredOf = async (path: string) => (await checkSnapshot(path)).featured;

test("the twelve drivers with the most points are featured; ties go to the lower id", async () => {
  expect(await featuredOf(await makeSnapshot(lines))).toEqual(range(20, 9));
  const fewer = lines.filter((line) => line.type !== "user" || line.id < 8 || line.id > 20);
  expect(await featuredOf(await makeSnapshot(fewer))).toEqual([7, 5, 6, 4, 3, 2, 1]);
  expect(await featuredOf(await makeSnapshot([user(2, "B"), user(1, "A")]))).toEqual([1, 2]);
});

const changes: [string, ChangeLine[], number[]][] = [
  ["a driver with few points is deleted", [{ type: "user", id: 3, deleted: true }], range(20, 9)],
  [
    "a featured driver goes private",
    [{ type: "user", id: 15, public: false }],
    [...range(20, 16), ...range(14, 8)],
  ],
  ["a driver overtakes the others", [driver(1, 20, 19)], [1, ...range(20, 10)]],
  ["a private driver goes public", [driver(21, 20, 1)], [21, ...range(20, 10)]],
  ["a featured driver loses points", [driver(20, 1)], range(19, 8)],
  ["an achievement loses points", [achievement(20, 0)], range(19, 8)],
];
test.each(changes)(
  "when %s, apply features the same drivers as an import",
  async (_, change, featured) => {
    const path = await makeSnapshot(lines);
    await applyChanges(bytesOf(change), path);
    expect(await featuredOf(path)).toEqual(featured);
    const imported = `${temporaryFolder()}/snapshot`;
    await importDataset(new Blob([await exported(path)]).stream(), imported);
    expect(await featuredOf(imported)).toEqual(await featuredOf(path));
  },
);

test("the start page shows the top drivers, or public drivers chosen by the operator", async () => {
  const cards = async (options: { featured?: number[] }) => {
    const target = await openInProcess({ dataset: lines, page: true, ...options });
    const html = await (await target.fetch("/")).text();
    await target.close();
    expect(html).toContain(">20 drivers<");
    return [...html.matchAll(/class="card".*?\/drivers\/(\d+)/gs)].map(([, id]) => Number(id));
  };
  expect(await cards({})).toEqual(range(20, 9));
  expect(await cards({ featured: [3, 21, 999, 1] })).toEqual([3, 1]);
  expect(await cards({ featured: [] })).toEqual([]);
  await expect(openInProcess({ dataset: lines, featured: [0] })).rejects.toThrow(
    "featured must be a whole number from 1 to 9007199254740991, got 0",
  );
});
