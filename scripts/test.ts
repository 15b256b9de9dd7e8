/**
 * Runs the tests, all or the files that are named: in some processes at a time, in one temporary
 * folder that is gone at the end, however the run ends. `bun run test [FILE…]`.
 */
import { constants } from "node:os";
import { openRunFolder, removeFolder, setTemporaryFolder } from "../test/run-folder.ts";

/** Two more than the smallest machine has cores: files of tests wait for half of their time. */
const PROCESSES = 4;

const folder = openRunFolder();
setTemporaryFolder(folder);
const command = [process.execPath, "test", "--no-orphans", `--parallel=${PROCESSES}`];
const tests = Bun.spawn([...command, "--timeout=60000", ...process.argv.slice(2)], {
  env: process.env,
  stdio: ["ignore", "inherit", "inherit"],
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    tests.kill("SIGKILL");
    removeFolder(folder);
    // With --no-orphans, whatever the tests have started ends here, too.
    process.exit(128 + constants.signals[signal]);
  });
}
const code = await tests.exited;
removeFolder(folder);
process.exit(code);
