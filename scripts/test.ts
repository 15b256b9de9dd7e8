/**
 * `bun run test [FILE…]` runs all tests, or only the given files, in several processes that share
 * one temporary folder. Only a run of given files prints the names of tests that pass.
 */
import { constants } from "node:os";
import { join } from "node:path";
import { openRunFolder, removeFolder, setTemporaryFolder, TIMEOUT_MS } from "../test/run-folder.ts";

/** The smallest machine has only two cores, but tests spend half their time waiting. */
const PROCESSES = 4;

const folder = openRunFolder();
setTemporaryFolder(folder);
const given = process.argv.slice(2);
const hasFiles = given.some((argument) => !argument.startsWith("-"));
const flags = [
  "--no-orphans",
  `--parallel=${PROCESSES}`,
  `--timeout=${TIMEOUT_MS}`,
  ...(hasFiles ? [] : ["--dots"]),
];
// Built before the first test, because Bun ends a test that takes too long with all that it started.
const needsExecutable = !hasFiles || given.some((argument) => argument.includes(".exe."));
if (needsExecutable && !process.env.ROADBOOK_BIN) {
  // Where `executable` of test/support.ts looks.
  const outfile = join(folder, "executable/roadbook");
  const build = Bun.spawnSync([process.execPath, "scripts/build.ts", "--outfile", outfile]);
  if (!build.success) {
    removeFolder(folder);
    throw new Error(build.stderr.toString());
  }
}
const tests = Bun.spawn([process.execPath, "test", ...flags, ...given], {
  env: process.env,
  stdio: ["ignore", "inherit", "inherit"],
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    tests.kill("SIGKILL");
    removeFolder(folder);
    // With --no-orphans, this also ends every process that the tests started.
    process.exit(128 + constants.signals[signal]);
  });
}
const code = await tests.exited;
removeFolder(folder);
process.exit(code);
