/**
 * Owns the folder for copies of snapshots from URLs, which several servers may share. A copy that
 * no server uses any more is removed, because it has the names of users who were hidden since.
 */
import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { lock, waitForLock } from "../../files/lock.ts";

/** A copy, and the files of a download that was killed. The lock files stay. */
const COPY = /^\.?([0-9a-f]{16})\.snapshot(?:\.new.*)?$/;
/** Another server holds the lock of an unused copy only while it removes that copy. */
const REMOVAL_MS = 10_000;

export class CachedCopy implements Disposable {
  readonly path: string;
  readonly #folder: string;
  readonly #id: string;
  #use: Disposable | undefined;

  /** `identity` is that of the source. */
  constructor(folder: string, identity: string) {
    this.#folder = folder;
    this.#id = createHash("sha256").update(identity).digest("hex").slice(0, 16);
    this.path = join(folder, `${this.#id}.snapshot`);
  }

  /** Keeps other servers from removing the copy, and removes copies that nobody uses. */
  async use(): Promise<void> {
    const take = () => lock(lockOf(this.#folder, this.#id), { isShared: true });
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      this.#use = await waitForLock(this.path, take, { waitMs: REMOVAL_MS });
    } catch {
      // A folder that cannot be written is reported with the download. On a file system without
      // locks, nobody removes a copy.
      return;
    }
    await this.removeOthers();
  }

  async removeOthers(): Promise<void> {
    for (const name of await readdir(this.#folder).catch(() => [])) {
      const [, id = this.#id] = COPY.exec(name) ?? [];
      // A copy that is in use, or cannot be removed, must not stop this server.
      if (id !== this.#id) await removeUnused(this.#folder, id, name).catch(() => {});
    }
  }

  [Symbol.dispose](): void {
    this.#use?.[Symbol.dispose]();
  }
}

const lockOf = (folder: string, id: string) => join(folder, `.${id}.in-use.lock`);

async function removeUnused(folder: string, id: string, name: string): Promise<void> {
  using _unused = lock(lockOf(folder, id));
  await rm(join(folder, name), { force: true });
}
