/**
 * Owns the folder for copies of snapshots from URLs, which several servers may share. A copy that
 * no server uses any more is removed, because it has the names of users who were hidden since.
 */
import { mkdirSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { hash } from "../../files/bytes.ts";
import { lock, waitForLock } from "../../files/lock.ts";

/** A copy, and the files of a download that was killed. The lock files stay. */
const COPY = /^\.?([0-9a-f]{16})\.snapshot(?:\.new.*)?$/;
/** Another server holds the lock of an unused copy only while it removes that copy. */
const REMOVAL_MS = 10_000;

export type CachedCopy = Awaited<ReturnType<typeof openCachedCopy>>;

/**
 * Keeps other servers from removing the copy of a source, and removes copies that nobody uses.
 * `identity` is that of the source.
 */
export async function openCachedCopy(folder: string, identity: string) {
  const ownId = hash("SHA256", identity, "hex").slice(0, 16);
  const path = join(folder, `${ownId}.snapshot`);
  let use: Disposable | undefined;

  async function removeOthers(): Promise<void> {
    for (const name of await readdir(folder).catch(() => [])) {
      const [, id = ownId] = COPY.exec(name) ?? [];
      // A copy that is in use, or cannot be removed, must not stop this server.
      if (id !== ownId) await removeIfUnused(folder, id, name).catch(() => {});
    }
  }

  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const take = () => lock(lockOf(folder, ownId), { isShared: true });
    use = await waitForLock(path, take, { waitMs: REMOVAL_MS });
    await removeOthers();
  } catch {
    // A folder that cannot be written is reported with the download. On a file system without
    // locks, nobody removes a copy.
  }
  return { path, removeOthers, [Symbol.dispose]: () => use?.[Symbol.dispose]() };
}

const lockOf = (folder: string, id: string) => join(folder, `.${id}.in-use.lock`);

async function removeIfUnused(folder: string, id: string, name: string): Promise<void> {
  using _unused = lock(lockOf(folder, id));
  await rm(join(folder, name), { force: true });
}
