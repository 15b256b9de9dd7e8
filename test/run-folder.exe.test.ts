/** A test run leaves neither folders nor processes behind, however it ends. */
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { executable, root, run, temporaryFolder, until } from "./support.ts";

const runTests = [process.execPath, "--no-orphans", "scripts/test.ts"];

/** The environment for a separate test run with its own temporary folder. */
async function environment(folder: string): Promise<Record<string, string>> {
  const { PATH = "", HOME = "" } = process.env;
  return { PATH, HOME, TMPDIR: folder, ROADBOOK_BIN: await executable() };
}

test("a test run removes its own folder and the folders of killed runs", async () => {
  const folder = temporaryFolder();
  const { pid, exited } = Bun.spawn(["true"]);
  await exited;
  mkdirSync(join(folder, `roadbook-test-${pid}`, "of", "a dead run"), { recursive: true });
  mkdirSync(join(folder, `roadbook-test-${process.pid}`));
  const outcome = await run([...runTests, "test/architecture.test.ts"], {
    cwd: root,
    env: await environment(folder),
  });
  expect([outcome.code, outcome.stderr]).toEqual([0, expect.stringMatching(/\b0 fail/)]);
  expect(readdirSync(folder)).toEqual([`roadbook-test-${process.pid}`]);
}, 60_000);

/** Lists the command lines of processes whose temporary folder is inside `folder`. */
function listCommands(folder: string): string[] {
  return readdirSync("/proc").flatMap((pid) => {
    try {
      const isOurs = readFileSync(`/proc/${pid}/environ`, "utf8").includes(`TMPDIR=${folder}`);
      return isOurs ? readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ") : [];
    } catch {
      return []; // The entry is not a process, or the process has exited.
    }
  });
}

test.concurrent.skipIf(process.platform !== "linux").each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
  "a test run ended by %s stops its servers and removes its folder",
  async (signal) => {
    const folder = temporaryFolder();
    const tests = Bun.spawn([...runTests, "test/server/hostile.exe.test.ts"], {
      cwd: root,
      env: await environment(folder),
      stdout: "ignore",
      stderr: "ignore",
    });
    await until(() => listCommands(folder).some((command) => command.includes(" serve ")));
    tests.kill(signal);
    expect(await tests.exited).toBeGreaterThan(128);
    await until(() => listCommands(folder).length === 0);
    expect(readdirSync(folder)).toEqual([]);
  },
  60_000,
);
