/** Keeps a local copy of a remote snapshot, its source. Only a valid download replaces the copy. */
import { createWriteStream, mkdirSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { formatTime } from "../../domain/time.ts";
import { requireSpace } from "../../files/bytes.ts";
import { reasonOf } from "../../files/errors.ts";
import { type Paths, replaceLocked } from "../../files/replace.ts";
import { HEADER_BYTES, parseSizes } from "../format/layout.ts";
import { verifyFile } from "../format/open.ts";
import { publicReasonOf, SnapshotError } from "../format/snapshot-error.ts";
import { type CachedCopy, openCachedCopy } from "./cached-copy.ts";
import { BlocksError, downloadBlocks, ReplacedError, readEnd } from "./download-blocks.ts";
import { createGet, type Get, type RemoteLocation, type Reply, RequestError } from "./location.ts";

export interface RemoteOptions {
  location: RemoteLocation;
  folder: string;
  /** How long a download may take without making progress. */
  timeoutMs: number;
  /** An attempt has failed for a new reason, but there is a copy. `detail` is for the operator. */
  onDown(detail: string): void;
  onUp(): void;
  /** Returns the time in milliseconds. Defaults to a monotonic clock. */
  clock?: (() => number) | undefined;
}

export interface RemoteStatus {
  url: string;
  /** When the source last had a good snapshot, new or unchanged, in ISO 8601. */
  last_success: string | null;
  error: string | null;
}

/** How often the source may replace the snapshot during a download of blocks. */
const MAX_REPLACED = 3;
/**
 * After how long an ETag is not trusted any more. Two snapshots may have the same one: nginx makes
 * it from the size of the file and the second in which it was written.
 */
const MAX_TRUST_MS = 180_000;

/** Why the last attempt failed. */
interface Failure {
  /** Anyone can read it in /health, so it has no path. */
  reason: string;
  /** The same for the operator, who may read everything. */
  detail: string;
  /** Whether a snapshot was received, but cannot be served. */
  isReceived: boolean;
}

export class RemoteSnapshot implements Disposable {
  /** The path of the copy of the last good snapshot. */
  readonly path: string;
  readonly #copy: CachedCopy;
  readonly #options: RemoteOptions;
  readonly #get: Get;
  readonly #clock: () => number;
  #hasCopy: boolean;
  /** The ETag that the source sent with the snapshot in the copy, and when. */
  #etag: string | null = null;
  #etagMs = 0;
  #lastSuccess: string | null = null;
  #failure: Failure | undefined;
  #lastAttempt = Promise.resolve();

  private constructor(copy: CachedCopy, hasCopy: boolean, options: RemoteOptions) {
    this.path = copy.path;
    this.#copy = copy;
    this.#hasCopy = hasCopy;
    this.#options = options;
    this.#get = createGet(options.location, options.timeoutMs);
    this.#clock = options.clock ?? (() => performance.now());
  }

  /** If the download fails or is slow, uses the copy that an earlier process left in the folder. */
  static async open(options: RemoteOptions): Promise<RemoteSnapshot> {
    const { location, folder, timeoutMs } = options;
    const copy = await openCachedCopy(folder, location.identity);
    const hasCopy = await verifyFile(copy.path).then(Boolean, () => false);
    const remote = new RemoteSnapshot(copy, hasCopy, options);

    const first = remote.refresh();
    // A slow download need not delay the start if there is a copy.
    await (hasCopy ? Promise.race([first, sleep(timeoutMs / 10)]) : first);
    if (remote.#hasCopy) return remote;
    remote[Symbol.dispose]();
    throw new Error(`${location.name} ${remote.#failure?.detail}`);
  }

  /**
   * Requests the snapshot once, after any other request. Never rejects. With `isForced`, the source
   * cannot respond that nothing has changed.
   */
  refresh(isForced = false): Promise<void> {
    this.#lastAttempt = this.#lastAttempt.then(() => this.#attempt(isForced));
    return this.#lastAttempt;
  }

  /** Why the snapshot at the source cannot be served, if it was received. */
  refused(): string | undefined {
    return this.#failure?.isReceived ? this.#failure.reason : undefined;
  }

  status(): RemoteStatus {
    return {
      url: this.#options.location.name,
      last_success: this.#lastSuccess,
      error: this.#failure?.reason ?? null,
    };
  }

  [Symbol.dispose](): void {
    this.#copy[Symbol.dispose]();
  }

  async #attempt(isForced: boolean): Promise<void> {
    const { onDown, onUp } = this.#options;
    const now = formatTime(Math.floor(Date.now() / 1000));
    try {
      await this.#download(isForced);
      if (this.#failure) onUp();
      this.#lastSuccess = now;
      this.#failure = undefined;
    } catch (error) {
      // A damaged transfer may have the ETag of a good snapshot.
      if (error instanceof SnapshotError) this.#etag = null;
      const failure = toFailure(error);
      if (this.#hasCopy && failure.detail !== this.#failure?.detail) onDown(failure.detail);
      this.#failure = failure;
    }
  }

  /** Downloads the blocks that have changed if there is a copy, or else the whole file. */
  async #download(isForced: boolean): Promise<void> {
    // Undefined also if the copy is lost, so the source must send it even if it has not changed.
    const own = this.#hasCopy ? await readEnd(this.path).catch(() => undefined) : undefined;
    const condition = own && !isForced ? this.#condition() : {};

    for (let times = 0; own && times < MAX_REPLACED; times++) {
      using reply = await this.#get({ ...condition, ...own.headers });
      if (reply.status === 304 && "if-none-match" in condition) return;
      if (reply.status === 200) return await this.#receiveFile(reply);

      try {
        await downloadBlocks(reply, own, this.#get, (write) => this.#replaceCopy(write));
        return this.#remember(reply);
      } catch (error) {
        if (!canWholeFileCure(error)) throw error;
        if (!(error instanceof ReplacedError)) break;
      }
    }

    using reply = await this.#get({});
    await this.#receiveFile(reply);
  }

  #condition(): Record<string, string> {
    const isTrusted = this.#clock() - this.#etagMs < MAX_TRUST_MS;
    return this.#etag !== null && isTrusted ? { "if-none-match": this.#etag } : {};
  }

  /** The copy has the snapshot that the reply belongs to. */
  #remember({ headers }: Reply): void {
    this.#etag = headers.get("etag");
    this.#etagMs = this.#clock();
  }

  async #receiveFile(reply: Reply): Promise<void> {
    // A 206 has only a part of the snapshot, and a 204 has none.
    if (reply.status !== 200) throw new RequestError(`responded with ${reply.status}`);

    await this.#replaceCopy(async ({ next }) => {
      // Opens the file without creating it, because a signal may have removed it by now.
      const file = createWriteStream(next, { flags: "r+" });
      await pipeline(bound(reply.body, this.#options.folder), file);
    });
    this.#hasCopy = true;
    this.#remember(reply);
  }

  async #replaceCopy(write: (paths: Paths) => Promise<void>): Promise<void> {
    // The folder may have been removed by a program that cleans up temporary files.
    mkdirSync(this.#options.folder, { recursive: true, mode: 0o700 });
    await replaceLocked(this.path, async (paths) => {
      await write(paths);
      await verifyFile(paths.next);
    });
    // Their servers may have ended since.
    await this.#copy.removeOthers();
  }
}

/** Whether blocks have failed in a way that is the source's or the network's. */
function canWholeFileCure(error: unknown): boolean {
  const isRemote = error instanceof BlocksError || error instanceof RequestError;
  return isRemote || error instanceof SnapshotError;
}

/** Shows anyone the message of an error only if it is known to have no path. */
function toFailure(error: unknown): Failure {
  if (error instanceof SnapshotError) {
    const { reason, detail } = error;
    return { reason, detail, isReceived: true };
  }
  if (error instanceof RequestError) {
    const { message } = error;
    return { reason: message, detail: message, isReceived: false };
  }
  const problem = "cannot be cached";
  return {
    reason: problem + publicReasonOf(error),
    detail: `${problem}: ${reasonOf(error)}`,
    isReceived: true,
  };
}

/** Yields no more than the snapshot's header declares, which must fit on the disk of `folder`. */
async function* bound(body: AsyncIterable<Uint8Array>, folder: string): AsyncGenerator<Uint8Array> {
  let head = Buffer.alloc(0);
  let received = 0;
  let size = Number.POSITIVE_INFINITY;
  for await (const chunk of body) {
    if (head.length < HEADER_BYTES) {
      head = Buffer.concat([head, chunk]);
      if (head.length >= HEADER_BYTES) {
        size = parseSizes(head).fileBytes;
        await requireSpace(folder, size);
      }
    }

    received += chunk.length;
    if (received > size) throw new SnapshotError(`is damaged: it has more than ${size} bytes`);
    yield chunk;
  }
}
