/**
 * Owns the one folder that a run of tests writes to: the temporary folder of the run and of all that
 * it starts, named after its process, so that a later run knows whose are left behind.
 */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const NAME = /^roadbook-test-(\d+)$/;

/** Makes the folder of this process and removes those of processes that are gone. */
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

/** Makes it the temporary folder of this process and of those that it starts. */
export function setTemporaryFolder(folder: string): void {
  process.env.TEST_RUN_FOLDER = folder;
  process.env.TMPDIR = folder;
}

/** Removes it with its content; what belongs to another user stays. */
export function removeFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    process.stderr.write(`${folder} is left behind: ${(error as Error).message}\n`);
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
