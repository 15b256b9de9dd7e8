/**
 * Runs before the tests of each process. Under `bun test FILE`, it creates and removes the run's
 * folder. `bun run test` does so itself. In tests, Bun emits no "exit" event, only `afterAll` and
 * signals.
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
      // A handler replaces the signal's default action, and Bun does not kill its children when it
      // exits.
      Bun.spawnSync(["pkill", "-KILL", "-P", String(process.pid)]);
      removeFolder(folder);
      process.exit(128 + number);
    });
  }
}
