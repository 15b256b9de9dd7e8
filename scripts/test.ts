/**
 * `bun run test [FILE…]` runs all tests, or only the given files, in several processes that share
 * one temporary folder. The slowest files begin first, as measured by the last run with
 * `--update-timings`.
 */
import { constants } from "node:os";
import { openRunFolder, removeFolder, setTemporaryFolder } from "../test/run-folder.ts";

/** The smallest machine has only two cores, but tests spend half their time waiting. */
const PROCESSES = 4;

const folder = openRunFolder();
setTemporaryFolder(folder);
/** Only ends a test that hangs, because tests on a busy machine take much longer than usual. */
const TIMEOUT_MS = 120_000;
const flags = [
  "--no-orphans",
  `--parallel=${PROCESSES}`,
  `--timeout=${TIMEOUT_MS}`,
  "--timings=test/timings.json",
];
const tests = Bun.spawn([process.execPath, "test", ...flags, ...process.argv.slice(2)], {
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
