/**
 * Puts a new file in the place of an old one, whole or not at all: written beside it, flushed to
 * disk, renamed. Whoever is killed half way leaves the old file as it was.
 */
import { closeSync, fsyncSync, mkdtempSync, openSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/**
 * Has `write` make the file at the path it is given, then moves that file to `target`. When `write`
 * throws, `target` is untouched and nothing is left beside it.
 */
export async function replaceFile<T>(
  target: string,
  write: (path: string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(dirname(target), `.${basename(target)}-`));
  const path = join(folder, "new");
  try {
    const result = await write(path);
    sync(path);
    renameSync(path, target);
    sync(dirname(target));
    return result;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function sync(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
