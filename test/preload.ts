/**
 * Runs before the tests of a process. In a process of its own (`bun test FILE`) it owns the run's
 * folder; under `bun run test` the run does. Bun's tests hear no "exit", only `afterAll` and signals.
 */
import { afterAll } from "bun:test";
import { openRunFolder, removeFolder, setTemporaryFolder } from "./run-folder.ts";

if (!process.env.TEST_RUN_FOLDER) {
  const folder = openRunFolder();
  setTemporaryFolder(folder);
  afterAll(() => removeFolder(folder));
  for (const [signal, number] of [
    ["SIGINT", 2],
    ["SIGTERM", 15],
    ["SIGHUP", 1],
  ] as const) {
    process.on(signal, () => {
      // Whoever hears these signals is no longer ended by them, and Bun ends no child with itself.
      Bun.spawnSync(["pkill", "-KILL", "-P", String(process.pid)]);
      removeFolder(folder);
      process.exit(128 + number);
    });
  }
}
