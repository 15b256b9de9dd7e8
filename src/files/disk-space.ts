/** Makes sure that a file fits on its disk before it is written. */
import { constants } from "node:fs";
import { copyFile, statfs } from "node:fs/promises";
import { dirname } from "node:path";

/** Copies a file of `bytes` and needs no space for it if the file system can share its blocks. */
export async function copyIfSpace(from: string, to: string, bytes: number): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_FICLONE_FORCE).catch(async () => {
    await requireSpace(dirname(to), bytes);
    await copyFile(from, to);
  });
}

/** Throws, as writing would, if a file of `bytes` does not fit on the disk of `folder`. */
export async function requireSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize, blocks } = await statfs(folder);
  // Some network file systems do not report their size.
  if (blocks === 0 || bavail * bsize >= bytes) return;
  const reason = `no space left on device (${Math.floor((bavail * bsize) / 1e6)} MB are free)`;
  throw Object.assign(new Error(reason), { code: "ENOSPC" });
}
