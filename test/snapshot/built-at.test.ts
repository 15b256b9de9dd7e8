/** `built_at` increases with every write, even if the machine's clock goes back. */
import { afterEach, expect, setSystemTime, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sqlite } from "#sqlite";
import type { DatasetLine } from "../../src/domain/dataset.ts";
import { readMeta } from "../../src/snapshot/format/meta.ts";
import { applyChanges } from "../../src/snapshot/import/apply.ts";
import { importDataset } from "../../src/snapshot/import/import.ts";
import { checkSnapshot } from "../../src/snapshot/read/check.ts";
import { parseWebLocation } from "../../src/snapshot/remote/location.ts";
import { openSource } from "../../src/snapshot/remote/source.ts";
import { community, makeSnapshot } from "../datasets.ts";
import { openInProcess, temporaryFolder } from "../support.ts";

const goesPrivate: DatasetLine = { type: "user", id: 42, public: false };
const at = (time: string) => setSystemTime(new Date(time));
afterEach(() => void setSystemTime());

test("while the clock is behind, each apply adds one millisecond to built_at", async () => {
  at("2031-01-01T00:00:00.250Z");
  const path = await makeSnapshot();
  const built = Date.now();
  at("2030-12-31T23:59:58.999Z");
  for (const later of [1, 2, 3]) {
    await applyChanges([goesPrivate], path);
    expect((await checkSnapshot(path)).built_at_ms).toBe(built + later);
  }
  at("2031-01-01T00:00:09.500Z");
  await applyChanges([goesPrivate], path);
  const { built_at, built_at_ms } = await checkSnapshot(path);
  expect([built_at, built_at_ms]).toEqual(["2031-01-01T00:00:09Z", Date.now()]);
});

test("an import still increases built_at when the clock is behind, and reports that", async () => {
  at("2031-01-01T00:00:00.250Z");
  const path = await makeSnapshot();
  const built = Date.now();
  const again = await importDataset(community, path);
  expect(again.clockIsBehind).toBeUndefined();
  expect((await checkSnapshot(path)).built_at_ms).toBe(built + 1);
  at("2020-06-01T00:00:00Z");
  const { clockIsBehind } = await importDataset(community, path);
  expect(clockIsBehind).toBe("2031-01-01T00:00:00Z");
  expect((await checkSnapshot(path)).built_at_ms).toBe(built + 2);
  // A build time set in the options is never adjusted, because the bytes of the new file must not
  // depend on the old file.
  expect(await importDataset(community, path, { builtAtMs: 5000 })).not.toHaveProperty(
    "clockIsBehind",
  );
  expect((await checkSnapshot(path)).built_at_ms).toBe(5000);
});

test("a server downloads a snapshot that was built while the clock was behind", async () => {
  at("2031-01-01T00:00:00Z");
  const path = await makeSnapshot();
  using web = Bun.serve({ port: 0, fetch: () => new Response(readFileSync(path)) });
  const location = parseWebLocation(`${web.url.origin}/community.snapshot`);
  if (!location) throw new Error("not a location");
  const down: string[] = [];
  const source = await openSource({
    location,
    cacheFolder: temporaryFolder(),
    timeoutMs: 20_000,
    allowOlder: false,
    onDown: (reason) => down.push(reason),
    onUp: () => {},
  });
  at("2029-01-01T00:00:00Z");
  await applyChanges([goesPrivate], path);
  expect(await source.refresh()).toBe(true);
  const served = await openInProcess({ snapshot: source.path });
  expect((await served.fetch("/users/public/42")).status).toBe(403);
  await importDataset(community.with(5, goesPrivate), path);
  expect(await source.refresh()).toBe(true);
  // A snapshot that is older by less than a second is refused too.
  const newer = readFileSync(path);
  await importDataset(community, path, { builtAtMs: Date.parse("2031-01-01T00:00:00.001Z") });
  expect(await source.refresh()).toBe(false);
  expect(down).toEqual([expect.stringContaining("--allow-older is not set")]);
  expect(readFileSync(source.path).equals(newer)).toBe(true);
});

test("/health reports built_at in whole seconds", async () => {
  at("2031-01-01T00:00:00.250Z");
  const { fetch } = await openInProcess({ snapshot: await makeSnapshot() });
  const { snapshot } = JSON.parse(await (await fetch("/health")).text());
  expect(snapshot).toEqual({
    built_at: "2031-01-01T00:00:00Z",
    dataset_sha256: expect.any(String),
    counts: expect.any(Object),
  });
});

test("built_at_ms falls back to built_at in a snapshot that an earlier version wrote", () => {
  const db = sqlite.openWritable(join(temporaryFolder(), "database"));
  db.$client.exec("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)");
  const write = db.$client.prepare("INSERT OR REPLACE INTO meta VALUES (?, ?)");
  write.run("built_at", "2026-01-01T00:00:02Z");
  write.run("dataset_sha256", "0".repeat(64));
  write.run("roadbook_version", "0.1.0");
  const counts = { roles: 0, achievements: 0, companies: 0, users: 0, public_users: 0 };
  write.run("counts", JSON.stringify(counts));
  const second = Date.parse("2026-01-01T00:00:02Z");
  expect(readMeta(db).built_at_ms).toBe(second);
  write.run("built_at_ms", `${second + 7}`);
  expect(readMeta(db).built_at_ms).toBe(second + 7);
  write.run("built_at_ms", "1e300");
  expect(() => readMeta(db)).toThrow("has no valid built_at_ms");
  db.$client.close();
});
