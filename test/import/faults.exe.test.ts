/** A snapshot survives writers that are killed or stopped, and endless lines. */
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { Random } from "../../src/domain/random.ts";
import { applyChanges } from "../../src/import/apply.ts";
import { checkSnapshot } from "../../src/snapshot/format/open.ts";
import {
  community,
  exported,
  listBeside,
  makeFile,
  makeSeeded,
  makeSnapshot,
  stateOf,
  succeed,
} from "../datasets.ts";
import { runs } from "../runs.ts";
import { executable, megabytesOf, run, temporaryFolder, until } from "../support.ts";

test("a killed writer leaves the snapshot intact, and the next one removes its files", async () => {
  const { dataset, snapshot: target } = await makeSeeded(2000);
  const random = new Random(11);
  let unfinished = 0;
  for (let id = 1; id <= runs(8); id++) {
    const hide = makeFile([{ type: "user", id, public: false }]);
    const words = id % 2 ? ["import", dataset] : ["apply", hide];
    const { bytes } = stateOf(target);
    const child = Bun.spawn([await executable(), ...words, "--to", target], { stdout: "ignore" });
    await until(() => child.exitCode !== null || listBeside(target).length > 1);
    await Bun.sleep(50 * random.next());
    child.kill("SIGKILL");
    await child.exited;
    if (stateOf(target).bytes === bytes) unfinished++;
    await checkSnapshot(target);
    await applyChanges(hide, target);
    expect(listBeside(target)).toEqual(["snapshot"]);
    const hidden = [...(await exported(target)).matchAll(/"id":(\d+),"public":false/g)];
    expect(hidden.map(([, id]) => Number(id))).toContain(id);
  }
  expect(unfinished).toBeGreaterThan(0);
});

test.each([
  [["import", "-"], "SIGHUP", 129],
  [["apply", "-"], "SIGINT", 130],
  [["seed", "--force", "--users", "3000000"], "SIGTERM", 143],
] as const)(
  "%p stopped by %s leaves the target unchanged and no files",
  async (words, signal, code) => {
    const target = await makeSnapshot();
    const before = stateOf(target);
    const child = Bun.spawn([await executable(), ...words, "--to", target], {
      stdin: "pipe",
      stdout: "ignore",
      stderr: "pipe",
    });
    // The temporary file might exist only briefly, so the polling interval is short.
    while (!readdirSync(dirname(target)).some(isUnfinished)) await Bun.sleep(1);
    child.kill(signal);
    const line = `roadbook: ended by ${signal}; no file was changed\n`;
    expect([await child.exited, await new Response(child.stderr).text()]).toEqual([code, line]);
    expect(stateOf(target)).toEqual(before);
  },
);

test("the next export into a folder removes what a killed one left there", async () => {
  const { snapshot } = await makeSeeded(2000);
  const folder = temporaryFolder();
  const target = join(folder, "export.ndjson");
  const seed = [await executable(), "seed", "--users", "3000000", "--to", target];
  const child = Bun.spawn(seed, { stdout: "ignore" });
  // Before, there is nothing of the export in the folder.
  await until(() =>
    readdirSync(folder, { recursive: true }).some((name) => /\bnew$/.test(`${name}`)),
  );
  child.kill("SIGKILL");
  await child.exited;
  expect(readdirSync(folder)).toHaveLength(1);
  await succeed(["export", snapshot, "--to", target]);
  expect(readdirSync(folder)).toEqual(["export.ndjson"]);
});

/** Whether a writer makes its new file in a folder with this name. */
const isUnfinished = (name: string) => /^roadbook-|\.new-/.test(name);

const hasStrace = Bun.which("strace") !== null;
if (!hasStrace) console.warn("skipped: flushing to disk, because strace is not installed");

test.if(hasStrace || Boolean(process.env.ROADBOOK_REQUIRE_ALL))(
  "the new file is flushed before the rename, and its folder after it",
  async () => {
    const target = await makeSnapshot();
    const log = makeFile([]);
    const trace = ["strace", "-f", "-y", "-e", "trace=fsync,rename,renameat,renameat2", "-o", log];
    const command = [await executable(), "apply", makeFile([]), "--to", target];
    expect((await run([...trace, ...command])).code).toBe(0);
    // The path that a call flushes, or the last of its paths.
    const calls = readFileSync(log, "utf8").matchAll(
      / (fsync|rename)\w*\((?:\d+<([^>]+)>|.*"([^"\n]+)")/g,
    );
    const steps = [...calls].map(([, call, flushed, renamed = ""]) => {
      return `${call} ${basename(flushed ?? renamed)}`;
    });
    const folder = basename(dirname(target));
    const file = basename(target);
    expect(steps).toEqual(["fsync new", `rename ${file}`, `fsync ${folder}`]);
  },
);

describe("the exit code says whether the target was replaced", () => {
  test.each(["import", "apply"])("even if %s cannot write its summary", async (command) => {
    const target = await makeSnapshot([{ type: "company", id: 1, name: "Old", member_count: 1 }]);
    const words = [await executable(), command, makeFile(community), "--to", target].join(" ");
    const { code, stderr } = await run(["sh", "-c", `${words} > /dev/full`]);
    const warning = "cannot write to standard output: no space left on device";
    expect([code, stderr]).toEqual([0, `roadbook: warning: ${warning}\n`]);
    expect((await checkSnapshot(target)).counts.users).toBe(3);
  });

  test("even if a signal arrives just after that", async () => {
    const command = await executable();
    for (const words of [["import", "--force"], ["apply"], ["export", "--force", "--to"]]) {
      for (let round = 0; round < runs(2); round++) {
        const snapshot = await makeSnapshot();
        const out = makeFile([]);
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

test("a line of half a GiB is rejected without being held in memory", async () => {
  const target = await makeSnapshot();
  const before = stateOf(target);
  const input = Buffer.concat(Array(32).fill(gzipSync(Buffer.alloc(2 ** 24, "a"))));
  const child = Bun.spawn([await executable(), "import", "-", "--to", target], {
    stdin: input,
    stdout: "pipe",
    stderr: "pipe",
  });
  let peak = 0;
  while (child.exitCode === null) {
    peak = Math.max(peak, megabytesOf(child.pid, "VmHWM") || 0);
    await Bun.sleep(5);
  }
  expect([child.exitCode, await new Response(child.stderr).text()]).toEqual([
    1,
    expect.stringContaining("line 1: is longer than 1 MiB"),
  ]);
  expect(peak).toBeLessThan(400);
  expect(stateOf(target)).toEqual(before);
});
