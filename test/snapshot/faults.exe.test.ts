/** A snapshot survives killed writers, full disks, concurrent writers and invalid input. */
import { afterAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { basename, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { checkSnapshot } from "../../src/snapshot/read/check.ts";
import {
  community,
  listBeside,
  makeFile,
  makeSeeded,
  makeSnapshot,
  stateOf,
  succeed,
  textOf,
} from "../datasets.ts";
import { runs } from "../runs.ts";
import { executable, openInProcess, roadbook, run, temporaryFolder } from "../support.ts";
import { floodDisk, killWriters } from "./bad-days.ts";

test("a killed writer leaves the snapshot intact, and the next one removes its files", async () => {
  const { unfinished, wrong, leftovers } = await killWriters(runs(12), 11);
  expect([wrong, leftovers]).toEqual([[], []]);
  expect(unfinished).toBeGreaterThan(runs(1));
}, 120_000);

test("downloading an endless body uses no more disk space than the header declares", async () => {
  const { downloads, mostBytes, wrong } = await floodDisk(1e7, 1500);
  expect(wrong).toEqual([]);
  expect(downloads).toBeGreaterThan(1);
  expect(mostBytes).toBeGreaterThan(0);
}, 30_000);

/** Starts a command and returns while the command is writing, before it replaces the target. */
async function startWriting(
  words: string[],
  target: string,
): Promise<Bun.Subprocess<"pipe", "ignore", "pipe">> {
  const child = Bun.spawn([await executable(), ...words, "--to", target], {
    stdin: "pipe",
    stdout: "ignore",
    stderr: "pipe",
  });
  const folder = join(target, "..");
  // The temporary file might exist only briefly, so the polling interval is short.
  while (!readdirSync(folder).some((name) => name.endsWith(".new"))) await Bun.sleep(1);
  return child;
}

test("import and apply work after a killed import, and remove the files it left", async () => {
  for (const next of ["import", "apply"]) {
    const target = await makeSnapshot();
    const killed = await startWriting(["import", "-"], target);
    killed.stdin.write(textOf(community));
    await killed.stdin.flush();
    killed.kill("SIGKILL");
    await killed.exited;
    const [left = ""] = readdirSync(join(target, "..")).filter((name) => name.endsWith(".new"));
    expect(statSync(join(target, "..", left)).mode & 0o777).toBe(0o600);
    await succeed([next, makeFile(next === "apply" ? [] : community), "--to", target]);
    expect((await checkSnapshot(target)).counts.users).toBe(3);
    expect(listBeside(target)).toEqual(["snapshot"]);
  }
});

describe("a writer stopped by a signal leaves the target unchanged and no new files", async () => {
  const commands = [
    ["import", "-"],
    ["apply", "-"],
    ["seed", "--force", "--users", "3000000"],
  ];
  const signals = [
    ["SIGHUP", 129],
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const;
  test.each(commands.flatMap((words) => signals.map((signal) => [words, ...signal] as const)))(
    "%p stopped by %s",
    async (words, signal, expected) => {
      const target = await makeSnapshot();
      const before = stateOf(target);
      const child = await startWriting([...words], target);
      child.kill(signal);
      expect([await child.exited, await new Response(child.stderr).text()]).toEqual([expected, ""]);
      expect(stateOf(target)).toEqual(before);
    },
  );
});

describe("using the same file as source and target is a usage error", () => {
  async function expectRefused(words: string[], source: string, target: string, name = source) {
    const before = stateOf(source);
    const { code, stdout, stderr } = await roadbook([...words, source, "--to", target]);
    expect([code, stdout, stderr]).toEqual([
      2,
      "",
      `roadbook: ${name} and --to ${target} are the same file\n`,
    ]);
    expect(stateOf(source)).toEqual(before);
  }

  test.each(["import", "apply", "export"])("in %s, even through a link", async (command) => {
    const source = command === "export" ? await makeSnapshot() : makeFile(community);
    const [link, hardLink] = [`${source}.link`, `${source}.hard`];
    symlinkSync(source, link);
    linkSync(source, hardLink);
    const folder = join(source, "..");
    const spelling = `${folder}/../${basename(folder)}/${basename(source)}`;
    for (const target of [source, link, hardLink, spelling]) {
      await expectRefused([command], source, target);
    }
  });

  test("in import from standard input", async () => {
    const source = makeFile(community);
    const command = `${await executable()} import - --to ${source} < ${source}`;
    const { code, stderr } = await run(["sh", "-c", command]);
    expect([code, stderr]).toEqual([
      2,
      `roadbook: standard input and --to ${source} are the same file\n`,
    ]);
    expect(readFileSync(source, "utf8")).toBe(textOf(community));
  });
});

describe("several writers with the same target", () => {
  test("fail if another writer is still running after --wait, and do not disturb it", async () => {
    const target = await makeSnapshot();
    const first = await startWriting(["import", "-"], target);
    for (const command of ["import", "apply"]) {
      const words = [command, makeFile(community), "--to", target, "--wait", "200ms"];
      const { code, stderr } = await roadbook(words);
      const expected = `another command is still writing ${target} after 0.2 s; --wait sets this time`;
      expect([code, stderr]).toEqual([1, `roadbook: ${expected}\n`]);
    }
    first.stdin.write(textOf(community));
    await first.stdin.end();
    expect(await first.exited).toBe(0);
    expect((await checkSnapshot(target)).counts.users).toBe(3);
    expect(listBeside(target)).toEqual(["snapshot"]);
  });

  test("take turns when eight start at once", async () => {
    const target = join(temporaryFolder(), "snapshot");
    const dataset = makeFile(community);
    await Promise.all(
      Array.from({ length: 8 }, () => succeed(["import", dataset, "--to", target])),
    );
    await checkSnapshot(target);
    expect(listBeside(target)).toEqual(["snapshot"]);
  });

  test.each([
    ["an existing snapshot", () => makeSnapshot()],
    ["a new file", () => join(temporaryFolder(), "snapshot")],
  ])("a takedown during an import into %s is kept", async (_, targetOf) => {
    const target = await targetOf();
    const importing = await startWriting(["import", "-"], target);
    const takedown = makeFile([{ type: "user", id: 42, public: false }]);
    const applied = succeed(["apply", takedown, "--to", target]);
    // An `apply` that did not wait would finish within this time.
    await Promise.race([applied.catch(() => {}), Bun.sleep(500)]);
    importing.stdin.write(textOf(community));
    await importing.stdin.end();
    expect(await importing.exited).toBe(0);
    await applied;
    const server = await openInProcess({ snapshot: target });
    expect((await server.fetch("/users/public/42")).status).toBe(403);
    expect((await server.fetch("/users/public/44")).status).toBe(200);
    await server.close();
  });
});

describe("the exit code says whether the target was replaced", () => {
  test("even if the summary cannot be written", async () => {
    for (const words of [["import"], ["apply"]]) {
      const target = await makeSnapshot([{ type: "company", id: 1, name: "Old", member_count: 1 }]);
      const command = [await executable(), ...words, makeFile(community), "--to", target].join(" ");
      const { code, stderr } = await run(["sh", "-c", `${command} > /dev/full`]);
      const warning = "cannot write to standard output: no space left on device";
      expect([code, stderr]).toEqual([0, `roadbook: warning: ${warning}\n`]);
      expect((await checkSnapshot(target)).counts.users).toBe(3);
    }
  });

  test("even if a signal arrives just after that", async () => {
    const command = await executable();
    for (const words of [["import", "--force"], ["apply"], ["export", "--force", "--to"]]) {
      for (let round = 0; round < runs(10); round++) {
        const [snapshot, out] = [await makeSnapshot(), makeFile([])];
        const isExport = words[0] === "export";
        const target = isExport ? out : snapshot;
        const rest = isExport ? [out, snapshot] : [makeFile(community), "--to", snapshot];
        const { ino } = statSync(target);
        const child = Bun.spawn([command, ...words, ...rest], { stdout: "ignore", stderr: "pipe" });
        while (child.exitCode === null && statSync(target).ino === ino) await setImmediate();
        child.kill("SIGHUP");
        expect([await child.exited, await new Response(child.stderr).text()]).toEqual([0, ""]);
      }
    }
  });
});

/** Returns the peak memory of a process in bytes, or 0 on a system without /proc. */
async function watchMemory(child: { pid: number; exitCode: number | null }): Promise<number> {
  let peakKiB = 0;
  const file = `/proc/${child.pid}/status`;
  while (child.exitCode === null && existsSync(file)) {
    const [, high = 0] =
      /VmHWM:\s+(\d+)/.exec(
        await Bun.file(file)
          .text()
          .catch(() => ""),
      ) ?? [];
    peakKiB = Math.max(peakKiB, Number(high));
    await Bun.sleep(10);
  }
  return peakKiB * 1024;
}

describe("invalid input is rejected and leaves the target unchanged", () => {
  const text = Buffer.from(textOf(community));
  const gibibyte = Buffer.concat(Array(64).fill(gzipSync(Buffer.alloc(2 ** 24, "a"))));
  test.each([
    ["truncated gzip", gzipSync(text).subarray(0, 150), /^roadbook: .+\n$/],
    ["zstd", zstdCompressSync(text), /this is zstd, not NDJSON\n {2}fix: zstd -dc FILE/],
    ["a truncated line", text.subarray(0, text.length - 20), /line 8: must be valid JSON/],
    ["a line of 1 GiB", gibibyte, /line 1: is longer than 1 MiB/],
  ])(
    "%s",
    async (_, input, expected) => {
      const target = await makeSnapshot();
      const before = stateOf(target);
      for (const command of ["import", "apply"]) {
        const child = Bun.spawn([await executable(), command, "-", "--to", target], {
          stdin: input,
          stdout: "pipe",
          stderr: "pipe",
        });
        const peakBytes = watchMemory(child);
        const stderr = await new Response(child.stderr).text();
        expect(await child.exited).toBe(1);
        expect(stderr).toMatch(expected);
        expect(await peakBytes).toBeLessThan(400 * 2 ** 20);
        expect(stateOf(target)).toEqual(before);
      }
    },
    60_000,
  );
});

describe("import and seed print a one-line error if the target is", () => {
  test.each([
    ["a folder", () => temporaryFolder(), /is not a regular file/],
    ["a device", () => "/dev/null", /\/dev\/null is not a regular file/],
    ["in a missing folder", () => join(temporaryFolder(), "no/where"), /no such file or directory/],
  ])("%s", async (_, target, expected) => {
    for (const words of [
      ["import", makeFile(community)],
      ["seed", "--users", "3"],
    ]) {
      const { code, stdout, stderr } = await roadbook([...words, "--to", target()]);
      expect([code, stdout]).toEqual([1, ""]);
      expect(stderr).toMatch(/^roadbook: .*\n$/);
      expect(stderr).toMatch(expected);
    }
  });
});

test("apply keeps the permissions of the file it replaces", async () => {
  const target = await makeSnapshot();
  chmodSync(target, 0o640);
  await succeed(["apply", makeFile([]), "--to", target]);
  expect(statSync(target).mode & 0o777).toBe(0o640);
});

test("import creates the missing file that a symbolic link points to", async () => {
  const folder = temporaryFolder();
  const link = join(folder, "link");
  symlinkSync("further", link);
  symlinkSync(join(temporaryFolder(), "snapshot"), join(folder, "further"));
  await succeed(["import", makeFile(community), "--to", link]);
  expect((await checkSnapshot(readlinkSync(join(folder, "further")))).counts.users).toBe(3);
  expect(readdirSync(folder).sort()).toEqual(["further", "link"]);
});

test("apply keeps a symbolic link and replaces the file it points to", async () => {
  const target = await makeSnapshot();
  const link = join(temporaryFolder(), "link");
  symlinkSync(target, link);
  await succeed(["apply", makeFile([{ type: "user", id: 44, deleted: true }]), "--to", link]);
  expect((await checkSnapshot(target)).counts.users).toBe(2);
  expect(readFileSync(link).equals(readFileSync(target))).toBe(true);
});

describe("on a memory disk", async () => {
  const volumes: string[] = [];

  /** Mounts a memory disk. Returns its path, or undefined if mounting is not permitted. */
  async function mount(options: string): Promise<string | undefined> {
    const folder = join(temporaryFolder(), "disk");
    mkdirSync(folder);
    const { code } = await run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder]).catch(
      () => ({ code: 1 }),
    );
    if (code !== 0) return undefined;
    volumes.push(folder);
    return folder;
  }
  afterAll(async () => {
    for (const folder of volumes) await run(["umount", folder]);
  });

  const trial = await mount("size=1m");
  const isPossible = trial !== undefined;
  if (isPossible) await run(["umount", volumes.pop() ?? trial]);
  if (!isPossible) {
    const message =
      "mounting a memory disk is not permitted; skipping the tests of full and read-only disks";
    if (process.env.ROADBOOK_REQUIRE_ALL === "1") throw new Error(message);
    console.warn(message);
  }

  test.skipIf(!isPossible)(
    "writing to a full disk is a one-line error and leaves the old file unchanged",
    async () => {
      const { dataset, snapshot } = await makeSeeded(6000);
      // The disk has space for one snapshot and a half.
      const disk = (await mount(`size=${Math.round(statSync(snapshot).size * 1.5)}`)) ?? "";
      const target = join(disk, "snapshot");
      copyFileSync(snapshot, target);
      const before = stateOf(target);
      const commands = [
        ["import", dataset, "--to", target],
        ["apply", makeFile([{ type: "user", id: 1, public: false }]), "--to", target],
        ["export", snapshot, "--to", target, "--force"],
        ["seed", "--users", "90000", "--to", target, "--force"],
      ];
      for (const words of commands) {
        const { code, stdout, stderr } = await roadbook(words);
        expect([code, stdout]).toEqual([1, ""]);
        expect(stderr).toMatch(
          /^roadbook: cannot write \S+: (no space left on device|database or disk is full)\n$/,
        );
        expect(stateOf(target)).toEqual(before);
      }
    },
  );

  test.skipIf(!isPossible)("writing to a read-only disk is a one-line error", async () => {
    const disk = (await mount("size=1m")) ?? "";
    const target = join(disk, "snapshot");
    copyFileSync(await makeSnapshot(), target);
    await run(["mount", "-o", "remount,ro", disk]);
    const before = stateOf(target);
    for (const command of ["import", "apply"]) {
      const { code, stderr } = await roadbook([command, makeFile(community), "--to", target]);
      expect([code, stderr]).toEqual([
        1,
        `roadbook: cannot write ${target}: read-only file system\n`,
      ]);
    }
    expect(stateOf(target)).toEqual(before);
    await succeed(["check", target]);
  });
});
