/** Import and apply write all or nothing, one after another, and say why in one line. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, linkSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { runCommandLine } from "../../src/commands/command-line.ts";
import { lock } from "../../src/files/lock.ts";
import { applyChanges } from "../../src/snapshot/import/apply.ts";
import { importDataset } from "../../src/snapshot/import/import.ts";
import { checkSnapshot } from "../../src/snapshot/read/check.ts";
import {
  bytesOf,
  community,
  exported,
  makeFile,
  makeSeeded,
  makeSnapshot,
  stateOf,
  textOf,
} from "../datasets.ts";
import { canMount, mount, openInProcess, run, temporaryFolder } from "../support.ts";

const writers = [
  ["import", importDataset],
  ["apply", applyChanges],
] as const;

test.each([
  ["an existing snapshot", () => makeSnapshot()],
  ["a new file", () => join(temporaryFolder(), "snapshot")],
])("a takedown during an import into %s is kept", async (_, targetOf) => {
  const target = await targetOf();
  const waiting = Promise.withResolvers<void>();
  async function* slowly() {
    yield Buffer.from(textOf(community.slice(0, 4)));
    await waiting.promise;
    yield Buffer.from(textOf(community.slice(4)));
  }
  const importing = importDataset(slowly(), target);
  const takedown = bytesOf([{ type: "user", id: 42, public: false }]);
  await Promise.all([importing, applyChanges(takedown, target, { onWait: waiting.resolve })]);
  const server = await openInProcess({ snapshot: target });
  expect((await server.fetch("/users/public/42")).status).toBe(403);
  expect((await server.fetch("/users/public/44")).status).toBe(200);
  await server.close();
});

test.each(writers)(
  "%s gives up after --wait, and leaves the other writer alone",
  async (command) => {
    const target = await makeSnapshot();
    const release = lock(join(target, "../.snapshot.lock"));
    const before = stateOf(target);
    await expect(
      runCommandLine([command, makeFile(community), "--to", target, "--wait", "20ms"]),
    ).rejects.toThrow(
      `another command is still writing ${target} after 0.02 s; --wait sets this time`,
    );
    expect(stateOf(target)).toEqual(before);
    release?.();
  },
);

test.each(["import", "apply", "export"])(
  "%s never loses the data of a source that is its target, even through a link",
  async (command) => {
    const source = command === "export" ? await makeSnapshot() : makeFile(community);
    const [link, hardLink] = [`${source}.link`, `${source}.hard`];
    symlinkSync(source, link);
    linkSync(source, hardLink);
    const before = stateOf(source).bytes;
    for (const target of [source, link, hardLink]) {
      await expect(runCommandLine([command, source, "--to", target])).rejects.toThrow(target);
    }
    expect(stateOf(source).bytes).toBe(before);
    if (command === "apply") return;
    // With --force, everything is read before the file is replaced.
    await runCommandLine([command, source, "--to", link, "--force"]);
    const text = command === "import" ? await exported(source) : readFileSync(source, "utf8");
    expect(text).toBe(await exported(await makeSnapshot()));
  },
);

describe.skipIf(!(await canMount()))("on a disk that is", () => {
  let seeded: Awaited<ReturnType<typeof makeSeeded>>;
  const disks: string[] = [];
  beforeAll(async () => {
    seeded = await makeSeeded(3000);
  });
  afterAll(async () => {
    for (const disk of disks) await run(["umount", disk]);
  });

  async function expectRejected(bytes: number, option: string, reason: RegExp): Promise<void> {
    const disk = (await mount(`size=${bytes}`)) ?? "";
    disks.push(disk);
    const target = join(disk, "snapshot");
    copyFileSync(seeded.snapshot, target);
    await run(["mount", "-o", `remount,${option}`, disk]);
    const before = stateOf(target);
    const takedown = makeFile([{ type: "user", id: 1, public: false }]);
    for (const words of [
      ["import", seeded.dataset],
      ["apply", takedown],
      ["export", seeded.snapshot, "--force"],
      ["seed", "--users", "30000", "--force"],
    ]) {
      await expect(runCommandLine([...words, "--to", target])).rejects.toThrow(reason);
      expect(stateOf(target)).toEqual(before);
    }
    await checkSnapshot(target);
  }

  test("full, every writer prints one line and leaves the old file unchanged", async () => {
    // The disk has space for one snapshot and a half.
    const bytes = Math.round(1.5 * Bun.file(seeded.snapshot).size);
    const full = /^cannot write \S+: (no space left on device|database or disk is full)$/;
    await expectRejected(bytes, "rw", full);
  });

  test("read-only, every writer prints one line", async () => {
    const bytes = 2 * Bun.file(seeded.snapshot).size;
    await expectRejected(bytes, "ro", /^cannot write \S+: read-only file system$/);
  });
});
