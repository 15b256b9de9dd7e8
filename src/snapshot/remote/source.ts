/**
 * Keeps a local copy of a snapshot that is on another machine. Downloads the snapshot after it has
 * changed, and replaces the copy if every byte of the download is valid. The caller decides when to
 * check for changes.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { formatTime } from "../../domain/time.ts";
import { isFileSystemError, reasonOf } from "../../files/errors.ts";
import { findIdentity } from "../../files/read.ts";
import { BusyError, replaceFile, untilFree } from "../../files/replace.ts";
import type { Meta } from "../format/meta.ts";
import { openSnapshot, SnapshotError } from "../read/open.ts";
import type { RemoteLocation } from "./location.ts";
import { saveSnapshot } from "./save.ts";
import { readBody, TransferError, transfer } from "./transfer.ts";

export interface SourceOptions {
  location: RemoteLocation;
  cacheFolder: string;
  /** The time limit for a download. */
  timeoutMs: number;
  /**
   * Called when an attempt fails while there is a copy, unless the previous attempt failed for the
   * same reason.
   */
  onDown(reason: string): void;
  /** Called when an attempt succeeds after one or more failures. */
  onUp(): void;
}

/** Where a snapshot comes from, and how fetching it went. Timestamps are ISO 8601. */
export interface SourceStatus {
  url: string;
  last_try: string;
  /** When an attempt last found a good snapshot at the source, new or unchanged. */
  last_success: string | null;
  /** The number of bytes received in complete downloads since the server started. */
  bytes: number;
  /** Why the last attempt failed, or null if it succeeded. */
  error: string | null;
}

/**
 * A single download may be damaged in transit. After this many bad downloads in a row, the snapshot
 * at the source must be bad.
 */
const MAX_DOWNLOADS = 3;

/** If there is already a copy, a download at startup gets only this share of the time limit. */
const START_SHARE = 0.1;

class Unchanged extends Error {}

/**
 * Downloads the snapshot. If an earlier process left a copy in `cacheFolder`, that copy is used
 * when the download fails, or until a slow download completes. Throws an error for the operator if
 * there is neither a download nor a copy.
 */
export async function openSource(options: SourceOptions): Promise<Source> {
  const source = new Source(options);
  await source.start();
  return source;
}

export class Source {
  /** The path of the copy. */
  readonly path: string;
  readonly #etagPath: string;
  readonly #options: SourceOptions;
  readonly #status: SourceStatus;
  /** The metadata of the last good copy. Kept even if the copy is deleted. */
  #copy: Meta | undefined;
  #etag: string | undefined;
  /**
   * The identity of the last file seen at the path. `#isCopyThere` is true if that file was a
   * good copy.
   */
  #identity = "";
  #isCopyThere = false;
  #rejected: { etag: string; reason: string; downloads: number } | undefined;
  /** Why the last attempt failed. Shown only to the operator, because it may contain paths. */
  #failure = "";
  #lastAttempt: Promise<boolean> = Promise.resolve(false);

  constructor(options: SourceOptions) {
    const { location, cacheFolder } = options;
    const id = createHash("sha256").update(location.name).digest("hex").slice(0, 16);
    this.#options = options;
    this.path = join(cacheFolder, `${id}.snapshot`);
    this.#etagPath = `${this.path}.etag`;
    const { name: url } = location;
    this.#status = { url, last_try: "", last_success: null, bytes: 0, error: null };
  }

  /** See {@link openSource}. */
  async start(): Promise<void> {
    const { location, timeoutMs } = this.#options;
    await this.#adopt();
    const attempt = this.refresh();
    await (this.#copy ? Promise.race([attempt, sleep(timeoutMs * START_SHARE)]) : attempt);
    if (!this.#copy) throw new Error(`${location.name} ${this.#failure}`);
  }

  /**
   * Checks for a new snapshot and resolves to whether the copy has changed. A snapshot that was
   * rejected several times is downloaded again only after it has changed, or if `isForced` is set.
   */
  refresh(isForced = false): Promise<boolean> {
    this.#lastAttempt = this.#lastAttempt.then(() => this.#attempt(isForced));
    return this.#lastAttempt;
  }

  status = (): SourceStatus => ({ ...this.#status });

  async #attempt(isForced: boolean): Promise<boolean> {
    const { cacheFolder, onDown, onUp } = this.#options;
    const status = this.#status;
    status.last_try = formatTime(Math.floor(Date.now() / 1000));
    try {
      const isNew = await this.#fetchInTurn(isForced);
      if (status.error !== null) onUp();
      status.last_success = status.last_try;
      status.error = null;
      return isNew;
    } catch (error) {
      this.#failure = reasonFor(error, this.path);
      // Only operators can read the log, but anyone can read the status.
      const reason = this.#failure
        .replaceAll(this.path, "the cache")
        .replaceAll(cacheFolder, "the cache");
      if (this.#copy && reason !== status.error) onDown(this.#failure);
      status.error = reason;
      return false;
    }
  }

  /**
   * Fetches the snapshot. If another process that shares the cache folder is already fetching it,
   * waits for that process and uses its copy.
   */
  async #fetchInTurn(isForced: boolean): Promise<boolean> {
    const { cacheFolder, timeoutMs } = this.#options;
    for (const end = performance.now() + timeoutMs; ; ) {
      // The folder may have been removed by a program that cleans up temporary files.
      mkdirSync(cacheFolder, { recursive: true, mode: 0o700 });
      const isAdopted = await this.#adopt();
      try {
        return (await this.#fetch(isForced)) || isAdopted;
      } catch (error) {
        if (!(error instanceof BusyError)) throw error;
        if (!(await untilFree(this.path, end - performance.now()))) {
          const seconds = timeoutMs / 1000;
          throw new TransferError(`is still being fetched by another process after ${seconds} s`);
        }
      }
    }
  }

  /**
   * Adopts the file at the path if another process has replaced it with a good snapshot. Resolves
   * to whether the file was adopted.
   */
  async #adopt(): Promise<boolean> {
    const identity = findIdentity(this.path);
    if (identity === this.#identity) return false;
    this.#identity = identity;
    const meta = await verify(this.path).catch(() => undefined);
    this.#etag = meta && readEtag(this.#etagPath, meta);
    this.#copy = meta ?? this.#copy;
    this.#isCopyThere = meta !== undefined;
    return this.#isCopyThere;
  }

  /** Requests the snapshot once, and resolves to whether the copy has changed. */
  async #fetch(isForced: boolean): Promise<boolean> {
    const { location, timeoutMs } = this.#options;
    const isGivenUp = !isForced && (this.#rejected?.downloads ?? 0) >= MAX_DOWNLOADS;
    const givenUp = isGivenUp ? this.#rejected : undefined;
    const known = givenUp?.etag ?? this.#etag;
    const condition = known && { headers: { "if-none-match": known }, expected: [304] };
    const response = await transfer(location, "GET", { timeoutMs, ...condition });
    if (!response.ok && givenUp) throw new TransferError(givenUp.reason);
    let isNew = response.ok;
    if (isNew) {
      try {
        this.#copy = await replaceFile(this.path, (file) => this.#save(response, file));
        this.#identity = findIdentity(this.path);
        this.#isCopyThere = true;
      } catch (error) {
        // The body may still be unread. If reading the body is what failed, cancelling it fails
        // too.
        await response.body?.cancel().catch(() => {});
        if (!(error instanceof Unchanged)) throw error;
        isNew = false;
      }
      this.#etag = etagOf(response);
    }
    this.#rejected = undefined;
    return isNew;
  }

  /**
   * Saves a response to a file and returns the snapshot's metadata. Throws if the current copy must
   * be kept.
   */
  async #save(response: Response, file: string): Promise<Meta> {
    const { timeoutMs } = this.#options;
    const copy = this.#copy;
    const etag = etagOf(response);
    try {
      this.#status.bytes += await saveSnapshot(readBody(response, timeoutMs), file);
      const meta = await verify(file);
      // A server without ETags sends the whole snapshot each time, even if it has not changed.
      const isSame = this.#isCopyThere && JSON.stringify(meta) === JSON.stringify(copy);
      // The ETag is written before the file is renamed, while the lock is held, so that no other
      // process sees a wrong ETag.
      writeEtag(this.#etagPath, etag, meta);
      if (isSame) throw new Unchanged();
      return meta;
    } catch (error) {
      // Interrupted downloads do not count, because they say nothing about the snapshot itself.
      if (etag !== undefined && error instanceof SnapshotError && !error.isTransient) {
        const downloads = this.#rejected?.etag === etag ? this.#rejected.downloads + 1 : 1;
        this.#rejected = { etag, reason: error.reason, downloads };
      }
      throw error;
    }
  }
}

/**
 * Reads every byte of a snapshot and returns its metadata. Throws a {@link SnapshotError} if the
 * snapshot is invalid.
 */
async function verify(path: string): Promise<Meta> {
  const { meta, close } = await openSnapshot(path);
  close();
  return meta;
}

/**
 * Returns why an attempt failed, as the rest of a sentence that begins with the source's name. The
 * text may contain `path`.
 */
function reasonFor(error: unknown, path: string): string {
  if (error instanceof SnapshotError) return error.reason;
  if (isFileSystemError(error)) return `cannot write ${path}: ${reasonOf(error)}`;
  return error instanceof Error ? error.message : String(error);
}

function etagOf({ headers }: Response): string | undefined {
  return headers.get("etag") ?? undefined;
}

function writeEtag(etagPath: string, etag: string | undefined, meta: Meta): void {
  if (etag === undefined) rmSync(etagPath, { force: true });
  else writeFileSync(etagPath, JSON.stringify({ etag, meta }));
}

/** Returns the saved ETag if it belongs to the copy with this metadata. */
function readEtag(etagPath: string, meta: Meta): string | undefined {
  try {
    const saved = JSON.parse(readFileSync(etagPath, "utf8"));
    const isOfCopy = JSON.stringify(saved.meta) === JSON.stringify(meta);
    return isOfCopy && typeof saved.etag === "string" ? saved.etag : undefined;
  } catch {
    return undefined;
  }
}
