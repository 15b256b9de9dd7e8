/**
 * Runs before the tests of each process. Unless `bun run test` has created the run's folder, this
 * file creates and removes the folder. It uses `afterAll` and signals, because Bun emits no "exit"
 * event in tests.
 */
import { afterAll, setDefaultTimeout } from "bun:test";
import { constants } from "node:os";
import { openRunFolder, removeFolder, setTemporaryFolder, TIMEOUT_MS } from "./run-folder.ts";

// Bun forgets this after the first file, so several files need `bun run test` or --timeout.
setDefaultTimeout(TIMEOUT_MS);

if (!process.env.TEST_RUN_FOLDER) {
  const folder = openRunFolder();
  setTemporaryFolder(folder);
  afterAll(() => removeFolder(folder));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      // A signal handler replaces the default action, and Bun does not kill its children on exit.
      Bun.spawnSync(["pkill", "-KILL", "-P", String(process.pid)]);
      removeFolder(folder);
      process.exit(128 + constants.signals[signal]);
    });
  }
}
