/**
 * Manages the temporary folder of a test run and of all programs that the run starts. The folder is
 * named after the process id, so that a later run can remove the folders of dead processes.
 */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Only ends a test that hangs, because tests on a busy machine take much longer than usual. */
export const TIMEOUT_MS = 600_000;

const NAME = /^roadbook-test-(\d+)$/;

/** Creates the folder for this process and removes the folders of dead processes. */
export function openRunFolder(): string {
  const parent = tmpdir();
  for (const name of readdirSync(parent)) {
    const [, pid] = NAME.exec(name) ?? [];
    if (pid !== undefined && !isRunning(Number(pid))) removeFolder(join(parent, name));
  }
  const folder = join(parent, `roadbook-test-${process.pid}`);
  removeFolder(folder);
  mkdirSync(folder);
  return folder;
}

/** Sets the temporary folder for this process and for the programs that it starts. */
export function setTemporaryFolder(folder: string): void {
  process.env.TEST_RUN_FOLDER = folder;
  process.env.TMPDIR = folder;
}

/** Removes a folder and its contents, or prints why not. Other users' files cannot be removed. */
export function removeFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    process.stderr.write(`${folder} cannot be removed: ${(error as Error).message}\n`);
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
