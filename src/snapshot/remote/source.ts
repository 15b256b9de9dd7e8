/**
 * Keeps a local copy of a snapshot that is on another machine. Downloads the snapshot after it has
 * changed, and replaces the copy if every byte of the download is valid. The caller decides when to
 * check for changes.
 */
import { createHash } from "node:crypto";
import { createWriteStream, mkdirSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { formatTime } from "../../domain/time.ts";
import { isFileSystemError, networkReasonOf, reasonOf } from "../../files/errors.ts";
import { replaceLocked } from "../../files/replace.ts";
import { HEADER_BYTES, parseFileBytes, SnapshotError } from "../format/file.ts";
import { openInPlace } from "../read/open.ts";
import type { RemoteLocation } from "./location.ts";

export interface SourceOptions {
  location: RemoteLocation;
  /** Where to keep the copy. */
  folder: string;
  /** The time limit for a download. */
  timeoutMs: number;
  /** Called when an attempt fails for a new reason while there is a copy. */
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
  /** The number of bytes of complete downloads since the server started. */
  bytes: number;
  /** Why the last attempt failed, or null if it succeeded. */
  error: string | null;
}

/** If there is already a copy, a download at startup gets only this share of the time limit. */
const START_SHARE = 0.1;

/**
 * Downloads the snapshot. If an earlier process left a copy in the folder, that copy is used when
 * the download fails, or until a slow download completes. Throws an error for the operator if there
 * is neither a download nor a copy.
 */
export async function openSource(options: SourceOptions): Promise<Source> {
  const source = new Source(options);
  await source.start();
  return source;
}

export class Source {
  /** The path of the copy. */
  readonly path: string;
  readonly #options: SourceOptions;
  readonly #status: SourceStatus;
  #hasCopy = false;
  /** Why the snapshot at the source is refused. Undefined if the copy is that snapshot. */
  #refused: SnapshotError | undefined;
  /** The headers that make the source send nothing unless the snapshot has changed. */
  #conditions: Record<string, string> = {};
  #lastAttempt: Promise<boolean> = Promise.resolve(false);

  constructor(options: SourceOptions) {
    const { name: url } = options.location;
    const id = createHash("sha256").update(url).digest("hex").slice(0, 16);
    this.#options = options;
    this.path = join(options.folder, `${id}.snapshot`);
    this.#status = { url, last_try: "", last_success: null, bytes: 0, error: null };
  }

  /** See {@link openSource}. */
  async start(): Promise<void> {
    const copy = await openInPlace(this.path).catch(() => undefined);
    copy?.close();
    this.#hasCopy = copy !== undefined;
    const attempt = this.refresh();
    await (this.#hasCopy
      ? Promise.race([attempt, sleep(this.#options.timeoutMs * START_SHARE)])
      : attempt);
    if (!this.#hasCopy) throw new Error(`${this.#status.url} ${this.#status.error}`);
  }

  /**
   * Checks for a new snapshot and resolves to whether the copy has changed. A snapshot that was
   * refused is downloaded again only after it has changed, or if `isForced` is set.
   */
  refresh(isForced = false): Promise<boolean> {
    this.#lastAttempt = this.#lastAttempt.then(() => this.#attempt(isForced));
    return this.#lastAttempt;
  }

  status = (): SourceStatus => ({ ...this.#status });

  async #attempt(isForced: boolean): Promise<boolean> {
    const { onDown, onUp } = this.#options;
    const status = this.#status;
    status.last_try = formatTime(Math.floor(Date.now() / 1000));
    try {
      const isNew = await this.#fetch(isForced && this.#refused ? {} : this.#conditions);
      if (status.error !== null) onUp();
      status.last_success = status.last_try;
      status.error = null;
      return isNew;
    } catch (error) {
      const reason = this.#reasonOf(error);
      if (this.#hasCopy && reason !== status.error) onDown(reason);
      status.error = reason;
      return false;
    }
  }

  /** Requests the snapshot once, and resolves to whether the copy has changed. */
  async #fetch(conditions: Record<string, string>): Promise<boolean> {
    const { location, folder, timeoutMs } = this.#options;
    const { url, headers } = location.prepare();
    const response = await fetch(url, {
      headers: { ...headers, ...conditions },
      signal: AbortSignal.timeout(timeoutMs),
    }).catch((error: unknown) => {
      throw new Error(`cannot be reached: ${networkReasonOf(error, timeoutMs)}`);
    });
    // A 206 has only a part of the snapshot, and a 204 has none.
    if (response.status !== 200) {
      await response.body?.cancel();
      if (response.status !== 304) throw new Error(`responded with ${response.status}`);
      if (this.#refused) throw this.#refused;
      return false;
    }
    this.#refused = undefined;
    try {
      // The folder may have been removed by a program that cleans up temporary files.
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      await replaceLocked(this.path, async ({ path }) => {
        this.#status.bytes += await save(readBody(response, timeoutMs), path);
        (await openInPlace(path)).close();
      });
    } catch (error) {
      // If reading the body is what failed, cancelling it fails too.
      await response.body?.cancel().catch(() => {});
      if (!(error instanceof SnapshotError)) throw error;
      this.#refused = error;
    }
    this.#conditions = conditionsOf(response);
    if (this.#refused) throw this.#refused;
    this.#hasCopy = true;
    return true;
  }

  /** Returns why an attempt failed, without the path of the copy, which anyone could read. */
  #reasonOf(error: unknown): string {
    if (isFileSystemError(error)) return `cannot write the cache: ${reasonOf(error)}`;
    const reason = error instanceof SnapshotError ? error.reason : reasonOf(error);
    return reason.replaceAll(this.path, "the cache").replaceAll(this.#options.folder, "the cache");
  }
}

function conditionsOf({ headers }: Response): Record<string, string> {
  const [etag, modified] = [headers.get("etag"), headers.get("last-modified")];
  if (etag !== null) return { "if-none-match": etag };
  return modified === null ? {} : { "if-modified-since": modified };
}

/**
 * Writes a body to the file `path` and returns the number of bytes. Stops if the
 * body does not begin with the header of a snapshot, or is longer than the header declares, so that
 * a wrong URL cannot fill the disk.
 */
async function save(body: AsyncIterable<Uint8Array>, path: string): Promise<number> {
  let written = 0;
  async function* check() {
    let head: Uint8Array = new Uint8Array();
    let declared = 0;
    for await (const chunk of body) {
      if (head.length < HEADER_BYTES) head = Buffer.concat([head, chunk]);
      if (head.length >= HEADER_BYTES) declared ||= parseFileBytes(head);
      written += chunk.length;
      if (declared > 0 && written > declared) {
        throw new SnapshotError(`is damaged: it has more than ${declared} bytes`);
      }
      yield chunk;
    }
    if (declared === 0) parseFileBytes(head);
  }
  await pipeline(check, createWriteStream(path));
  return written;
}

async function* readBody({ body }: Response, timeoutMs: number): AsyncGenerator<Uint8Array> {
  try {
    yield* body ?? [];
  } catch (error) {
    throw new Error(`stopped sending: ${networkReasonOf(error, timeoutMs)}`);
  }
}
