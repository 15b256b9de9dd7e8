/** Holds the snapshot that is being served, and keeps it if a replacement of its file is bad. */
import { stat } from "node:fs/promises";
import { codeOf } from "../../files/errors.ts";
import { type Meta, readMeta } from "../format/meta.ts";
import { openPrivate, type VerifiedDatabase } from "../format/open.ts";
import { namingSnapshot, SnapshotError } from "../format/snapshot-error.ts";
import { companyQueries } from "./companies.ts";
import { searchQueries } from "./results.ts";
import { userQueries } from "./users.ts";

export type Snapshot = Awaited<ReturnType<typeof openSnapshot>>;

export type Replacement = { meta: Meta } | { refused: SnapshotError };

export async function openSnapshot(source: string | Uint8Array, copyFolder?: string) {
  const advice = "choose another folder with --cache-dir of serve";
  const verified = await openPrivate(source, { copyFolder, advice });
  return namingSnapshot(source, () => {
    try {
      return snapshotOf(verified);
    } catch (error) {
      verified.db.$client.close();
      throw error;
    }
  });
}

export function snapshotOf({ db, sha256 }: VerifiedDatabase) {
  const parts = {
    users: userQueries(db),
    companies: companyQueries(db),
    search: searchQueries(db),
  };
  return { meta: readMeta(db), sha256, ...parts, close: () => db.$client.close() };
}

/** A version of a file. If there is no file, `file` is the code of the error. */
interface FileVersion {
  /** Stays the same when the file is written to or renamed. */
  file: string;
  /** Changes when the file is written to or moved. */
  state: string;
}

export class ReloadableSnapshot {
  #snapshot: Snapshot;
  /** The path or bytes of the snapshot. */
  #source: string | Uint8Array;
  /** The version that was last opened or refused. */
  #version: FileVersion;
  readonly #copyFolder: string | undefined;
  #refused: SnapshotError | undefined;
  #isClosed = false;
  #lastTask: Promise<unknown> = Promise.resolve();

  private constructor(
    snapshot: Snapshot,
    version: FileVersion,
    source: string | Uint8Array,
    copyFolder: string | undefined,
  ) {
    this.#snapshot = snapshot;
    this.#version = version;
    this.#source = source;
    this.#copyFolder = copyFolder;
  }

  /** Opens a snapshot from its path or bytes. */
  static async open(source: string | Uint8Array, copyFolder?: string): Promise<ReloadableSnapshot> {
    // Found before the file is opened, so that a replacement in between is noticed.
    const version = await findVersion(source);
    const snapshot = await openSnapshot(source, copyFolder);
    return new ReloadableSnapshot(snapshot, version, source, copyFolder);
  }

  /** The snapshot to read from, until the next await: it may be closed after that. */
  readonly current = (): Snapshot => this.#snapshot;

  refused(): SnapshotError | undefined {
    return this.#refused;
  }

  /**
   * Opens the file if it has changed, or was refused and `isForced` is set. Resolves to undefined
   * unless there is a new snapshot or the first error of a file, which may still be written.
   */
  refresh(isForced = false): Promise<Replacement | undefined> {
    return this.#enqueue(() => this.#check(isForced));
  }

  /**
   * Replaces a snapshot in memory with the result of passing its bytes to `transform`. Resolves to
   * undefined if the snapshot has been closed by then.
   */
  change(transform: (bytes: Uint8Array) => Promise<Uint8Array>): Promise<Meta | undefined> {
    return this.#enqueue(async () => {
      if (typeof this.#source === "string") {
        throw new TypeError("for a snapshot file, call applyChanges and then refresh");
      }
      const bytes = await transform(this.#source);
      const meta = this.#swap(await openSnapshot(bytes));
      this.#source = bytes;
      return meta;
    });
  }

  /** Running tasks have no further effect. */
  close(): void {
    if (!this.#isClosed) this.#snapshot.close();
    this.#isClosed = true;
  }

  /** Runs one task after another. */
  #enqueue<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#lastTask.then(task);
    this.#lastTask = result.catch(() => {});
    return result;
  }

  async #check(isForced: boolean): Promise<Replacement | undefined> {
    const before = this.#version;
    this.#version = await findVersion(this.#source);
    const isRetry = this.#refused !== undefined && isForced;
    const isSameFile = this.#version.file === before.file;
    const hasChanged = !isSameFile || this.#version.state !== before.state;
    if (this.#isClosed || !(hasChanged || isRetry)) return undefined;

    try {
      const meta = this.#swap(await openSnapshot(this.#source, this.#copyFolder));
      return meta && { meta };
    } catch (error) {
      const isKnown = this.#refused !== undefined && isSameFile;
      const isBug = !(error instanceof SnapshotError);
      this.#refused = isBug ? new SnapshotError("cannot be opened because of a bug") : error;
      if (isBug) throw error;
      return isKnown ? undefined : { refused: this.#refused };
    }
  }

  #swap(next: Snapshot): Meta | undefined {
    if (this.#isClosed) {
      next.close();
      return undefined;
    }
    // Reads are synchronous, so no read of the old snapshot can be in progress.
    this.#snapshot.close();
    this.#snapshot = next;
    this.#refused = undefined;
    return next.meta;
  }
}

/** A snapshot in memory has only one version. A hung network drive does not block the server. */
async function findVersion(source: string | Uint8Array): Promise<FileVersion> {
  if (typeof source !== "string") return { file: "", state: "" };
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(source, { bigint: true });
    return { file: `${dev} ${ino}`, state: `${size} ${mtimeNs} ${ctimeNs}` };
  } catch (error) {
    return { file: codeOf(error), state: "" };
  }
}
