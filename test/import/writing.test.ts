/** Import and apply write all or nothing, one after another, and say why in one line. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  createReadStream,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { sqlite } from "#sqlite";
import { runCommandLine } from "../../src/commands/command-line.ts";
import { lock, makeTemporaryFolder } from "../../src/files/lock.ts";
import { applyChanges } from "../../src/import/apply.ts";
import { hideUsers } from "../../src/import/hide.ts";
import { importDataset } from "../../src/import/import.ts";
import type { LineSource } from "../../src/import/line-reader.ts";
import { beginWriting } from "../../src/import/target.ts";
import { createRoadbook } from "../../src/roadbook.ts";
import { SCHEMA_VERSION } from "../../src/snapshot/format/layout.ts";
import { checkSnapshot } from "../../src/snapshot/format/open.ts";
import {
  bytesOf,
  community,
  exported,
  makeFile,
  makeLarge,
  makeSeeded,
  makeSnapshot,
  stateOf,
  textOf,
  user,
} from "../datasets.ts";
import { openInProcess, root, run, temporaryFolder, until } from "../support.ts";

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
    using _lock = lock(join(target, "../.snapshot.lock"));
    const before = stateOf(target);
    await expect(
      runCommandLine([command, makeFile(community), "--to", target, "--wait", "20ms"]),
    ).rejects.toThrow(
      `another command is still writing ${target} after 0.02 s; --wait sets this time`,
    );
    expect(stateOf(target)).toEqual(before);
  },
);

test.each([
  ["apply", makeFile([])],
  ["hide", "1"],
])(
  "%s of a file that does not exist is one line, and leaves no lock",
  async (command, argument) => {
    const folder = temporaryFolder();
    const target = join(folder, "snapshot");
    const running = runCommandLine([command, argument, "--to", target]);
    await expect(running).rejects.toThrow(`${target} cannot be read: no such file or directory`);
    expect(readdirSync(folder)).toEqual([]);
  },
);

test("an import does not replace a snapshot of a newer version, except by force", async () => {
  const target = await makeSnapshot();
  const bytes = readFileSync(target);
  bytes.writeUInt32BE(SCHEMA_VERSION + 1, 60);
  writeFileSync(target, bytes);
  const words = ["import", makeFile(community), "--to", target];
  const problem = `${target} has schema ${SCHEMA_VERSION + 1}, but this Roadbook reads schema`;
  await expect(runCommandLine(words)).rejects.toThrow(problem);
  expect(readFileSync(target)).toEqual(bytes);
  await runCommandLine([...words, "--force"]);
  expect((await checkSnapshot(target)).counts.users).toBe(3);
});

test.each(["import", "apply", "export"])(
  "%s never loses the data of a source that is its target, even through a link",
  async (command) => {
    const source = command === "export" ? await makeSnapshot() : makeFile(community);
    const link = `${source}.link`;
    const hardLink = `${source}.hard`;
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

test("changes to a snapshot that nobody may write are made in a copy that its owner may", async () => {
  const target = await makeSnapshot();
  chmodSync(target, 0o444);
  const modes: number[] = [];
  const modeOf = (path: string) => statSync(path).mode & 0o777;
  const folder = `.snapshot.new-${process.getuid?.() ?? ""}`;
  async function* changes() {
    yield Buffer.from(`${JSON.stringify(user(98, "Ann"))}\n`.padEnd(1 << 17, " \n"));
    await until(() => modes.push(modeOf(join(dirname(target), folder, "new"))) > 20);
    yield Buffer.from(`${JSON.stringify(user(99, "Bob"))}\n`);
  }
  await applyChanges(changes(), target);
  expect([modes.at(-1), modeOf(target)]).toEqual([0o600, 0o444]);
});

test("a source that cannot be read is named, and not the target", async () => {
  const folder = temporaryFolder();
  const tables = join(folder, "tables");
  const target = join(folder, "snapshot");
  mkdirSync(tables);
  symlinkSync("nowhere", join(tables, "users.csv"));
  symlinkSync("loop", join(folder, "loop"));
  const reset = Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
  async function* cut() {
    yield Buffer.from(textOf(community));
    throw reset;
  }

  const none = join(folder, "none");
  const missing = "no such file or directory";
  const importing = (source: LineSource) => importDataset(source, target);
  await expect(importing(none)).rejects.toThrow(new Error(`cannot read ${none}: ${missing}`));
  await expect(importing(createReadStream(none))).rejects.toThrow(
    new Error(`cannot read the source: ${missing}`),
  );
  await expect(importing(tables)).rejects.toThrow(
    new Error(`cannot read ${join(tables, "users.csv")}: ${missing}`),
  );
  await expect(importing(join(folder, "loop"))).rejects.toThrow(
    new Error(`cannot read ${join(folder, "loop")}: too many symbolic links encountered`),
  );
  await expect(importing(cut())).rejects.toBe(reset);
});

/** Mounts a memory disk. Returns its path, or undefined if mounting is not permitted. */
async function mount(options: string): Promise<string | undefined> {
  const folder = join(temporaryFolder(), "disk");
  mkdirSync(folder);
  const words = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder];
  const { code } = await run(words).catch(() => ({ code: 1 }));
  return code === 0 ? folder : undefined;
}

const trial = await mount("size=1m");
if (trial) await run(["umount", trial]);
else if (process.env.ROADBOOK_REQUIRE_ALL === "1") throw new Error("a disk cannot be mounted");
else console.warn("mounting is not permitted: skipping the tests of full and read-only disks");

test("a database is closed if writing cannot begin", () => {
  const db = sqlite.openMemory();
  expect(() => beginWriting(db, temporaryFolder())).toThrow("ATTACH");
  expect(() => db.$client.exec("BEGIN")).toThrow("not open");
});

describe.skipIf(!trial)("on a disk that is", () => {
  let seeded: Awaited<ReturnType<typeof makeSeeded>>;
  const disks: string[] = [];
  beforeAll(async () => {
    seeded = await makeSeeded(3000);
  });
  afterAll(async () => {
    // Lazily, because a test that failed may still have files open.
    for (const disk of disks) await run(["umount", "--lazy", disk]);
  });

  async function expectRejected(bytes: number, option: string, reason: RegExp): Promise<string> {
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
    return target;
  }

  test("full, every writer prints one line and leaves the old file unchanged", async () => {
    // The disk has space for one snapshot and a half.
    const bytes = Math.round(1.5 * Bun.file(seeded.snapshot).size);
    const full =
      /^cannot write \S+: (no space left on device( \(\d+ MB are free\))?|database or disk is full)$/;
    await expectRejected(bytes, "rw", full);
  });

  test("full, an error of a change says how much space is free", async () => {
    const disk = (await mount(`size=${Math.round(1.5 * Bun.file(seeded.snapshot).size)}`)) ?? "";
    disks.push(disk);
    const target = join(disk, "snapshot");
    copyFileSync(seeded.snapshot, target);
    const before = stateOf(target);
    const reason = /^cannot write \S+: no space left on device \(\d+ MB are free\)$/;
    const lines = [{ type: "user", id: 1, public: false }];
    await expect(applyChanges(lines, target)).rejects.toThrow(reason);
    await expect(hideUsers([1], target)).rejects.toThrow(reason);
    expect(stateOf(target)).toEqual(before);
  });

  test("full, a server writes nothing, and a takedown is confirmed only when it is served", async () => {
    const snapshot = await makeLarge();
    const { size } = Bun.file(snapshot);
    const disk = (await mount(`size=${Math.round(1.5 * size)}`)) ?? "";
    disks.push(disk);
    await using roadbook = await createRoadbook({ snapshot, cacheDir: disk });
    const { url } = await roadbook.listen();
    const statusOf = async () => (await fetch(`${url}/users/public/1`)).status;
    const before = statfsSync(disk).bfree;
    const takedown = ["hide", "1", "--to", snapshot, "--confirm", url, "--wait"];
    const stale = "not confirmed: the server serves a snapshot of 20";
    await expect(runCommandLine([...takedown, "1s"])).rejects.toThrow(stale);
    await roadbook.refresh();
    const full = /cannot be copied \(needs \d+ MB in the cache\): no space left on device \(\d+ MB/;
    await expect(runCommandLine([...takedown, "1s"])).rejects.toThrow(full);
    await runCommandLine(["health", url]);
    expect([await statusOf(), statfsSync(disk).bfree]).toEqual([200, before]);
    await run(["mount", "-o", `remount,size=${4 * size}`, disk]);
    expect(await roadbook.refresh(true)).toMatchObject({ meta: {} });
    const isServed = () => roadbook.refresh();
    await Promise.all([runCommandLine([...takedown, "1m"]), until(isServed)]);
    expect(await statusOf()).toBe(403);
  });

  test("full or read-only, an id map is named, and a user with a known key can be hidden", async () => {
    const disk = (await mount("size=1m")) ?? "";
    disks.push(disk);
    const idMap = join(disk, "ids");
    const target = join(temporaryFolder(), "snapshot");
    const people = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ ...user(1, "Ann"), id: `key ${at}` }));
    await importDataset(people(10), target, { idMap });
    writeFileSync(join(disk, "filler"), Buffer.alloc(statfsSync(disk).bfree * 4096));
    for (const [option, reason] of [
      ["rw", "database or disk is full"],
      ["ro", "attempt to write a readonly database"],
    ] as const) {
      await run(["mount", "-o", `remount,${option}`, disk]);
      const before = stateOf(target);
      await importDataset(people(10), target, { idMap, dryRun: true });
      // So many keys are written before the map is committed.
      for (const count of [11, 100_000]) {
        const importing = importDataset(people(count), target, { idMap });
        await expect(importing).rejects.toThrow(new Error(`cannot write ${idMap}: ${reason}`));
        expect(stateOf(target)).toEqual(before);
      }
      const { found } = await hideUsers(["key 3"], target, { idMap });
      expect(found).toHaveLength(1);
      await importDataset(people(10), target, { idMap });
    }
  });

  test("full, a first import leaves no empty id map", async () => {
    const disk = (await mount("size=1m")) ?? "";
    disks.push(disk);
    const idMap = join(disk, "ids");
    const target = join(temporaryFolder(), "snapshot");
    const people = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ ...user(1, "Ann"), id: `key ${at}` }));
    const reason = new Error(`cannot write ${idMap}: database or disk is full`);
    // Without a free page, with too few for the tables, and with too few for the keys.
    for (const pages of [0, 5, 20]) {
      const bytes = (statfsSync(disk).bfree - pages) * 4096;
      writeFileSync(join(disk, "filler"), Buffer.alloc(bytes));
      await expect(importDataset(people(3000), target, { idMap })).rejects.toThrow(reason);
      expect(readdirSync(disk)).toEqual(["filler"]);
      rmSync(join(disk, "filler"));
    }
    await importDataset(people(10), target, { idMap });
  });

  test("full, a temporary database is named, and not the target", async () => {
    const disk = (await mount("size=1m")) ?? "";
    disks.push(disk);
    const folder = temporaryFolder();
    const name = "n".repeat(200);
    const rows = Array.from({ length: 30_000 }, (_, at) => `${at + 1},1,${name},2021-05-31`);
    const columns = "id,public,name,created_at";
    writeFileSync(join(folder, "users.csv"), [columns, ...rows].join("\n"));
    const people = Array.from({ length: 20_000 }, (_, at) => user(at + 1, "Ann"));
    // More than SQLite keeps in memory.
    const avatar_url = `/${"a".repeat(2000)}`;
    const dataset = makeFile(people.map((person) => ({ ...person, avatar_url })));

    for (const words of [[folder], [dataset, "--dry-run"]]) {
      const importing = ["import", ...words, "--to", join(folder, "snapshot")];
      const program = [process.execPath, join(root, "src/main.ts"), ...importing];
      expect(await run(program, { env: { TMPDIR: disk } })).toMatchObject({
        code: 1,
        stderr:
          "roadbook: cannot write the temporary database (TMPDIR sets its folder): database or disk is full\n",
      });
    }
  });

  test("without inodes, a temporary folder that cannot be filled is removed", async () => {
    // The disk itself takes one, the folder and its lock two.
    const disk = (await mount("size=1m,nr_inodes=3")) ?? "";
    disks.push(disk);
    await expect(makeTemporaryFolder(disk)).rejects.toThrow("no space left on device");
    expect(readdirSync(disk)).toEqual([]);
  });

  test("read-only, every writer prints one line, and a dry run needs no more", async () => {
    const bytes = 2 * Bun.file(seeded.snapshot).size;
    const reason = /^cannot write \S+: read-only file system$/;
    const target = await expectRejected(bytes, "ro", reason);
    const { differences } = await importDataset(seeded.dataset, target, { dryRun: true });
    expect(differences?.users).toMatchObject({ added: 0, removed: 0 });
  });
});
