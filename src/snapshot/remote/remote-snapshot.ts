/** Keeps a local copy of a remote snapshot, its source. Only a valid download replaces the copy. */
import { createWriteStream, mkdirSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { formatTime } from "../../domain/time.ts";
import { requireSpace } from "../../files/bytes.ts";
import { reasonOf } from "../../files/errors.ts";
import { type Paths, replaceLocked } from "../../files/replace.ts";
import { HEADER_BYTES, parseHeader, publicReasonOf, SnapshotError } from "../format/layout.ts";
import { verifyFile } from "../format/open.ts";
import { type CachedCopy, openCachedCopy } from "./cached-copy.ts";
import { BlocksError, downloadBlocks, ReplacedError, readEnd } from "./download-blocks.ts";
import { createGet, type RemoteLocation, type Reply, RequestError } from "./location.ts";

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

export type RemoteSnapshot = Awaited<ReturnType<typeof openRemoteSnapshot>>;

/** If the download fails or is slow, uses the copy that an earlier process left in the folder. */
export async function openRemoteSnapshot(options: RemoteOptions) {
  const { location, folder, timeoutMs, onDown, onUp } = options;
  const copy = await openCachedCopy(folder, location.identity);
  let hasCopy = await verifyFile(copy.path).then(Boolean, () => false);
  const source = createDownloads(copy, options);
  let lastSuccess: string | null = null;
  let failure: Failure | undefined;
  let lastAttempt = Promise.resolve();

  async function attempt(isForced: boolean): Promise<void> {
    const now = formatTime(Math.floor(Date.now() / 1000));
    try {
      await source.download(hasCopy, isForced);
      if (failure) onUp();
      hasCopy = true;
      lastSuccess = now;
      failure = undefined;
    } catch (error) {
      // A damaged transfer may have the ETag of a good snapshot.
      if (error instanceof SnapshotError) source.forgetTag();
      const next = toFailure(error);
      if (hasCopy && next.detail !== failure?.detail) onDown(next.detail);
      failure = next;
    }
  }

  /**
   * Requests the snapshot once, after any other request. Never rejects. With `isForced`, the source
   * cannot respond that nothing has changed.
   */
  function refresh(isForced = false): Promise<void> {
    lastAttempt = lastAttempt.then(() => attempt(isForced));
    return lastAttempt;
  }

  const first = refresh();
  // A slow download need not delay the start if there is a copy.
  await (hasCopy ? Promise.race([first, sleep(timeoutMs / 10)]) : first);
  if (!hasCopy) {
    copy[Symbol.dispose]();
    throw new Error(`${location.name} ${failure?.detail}`);
  }

  return {
    /** The path of the copy of the last good snapshot. */
    path: copy.path,
    refresh,
    /** Why the snapshot at the source cannot be served, if it was received. */
    refused: () => (failure?.isReceived ? failure.reason : undefined),
    status: (): RemoteStatus => {
      return { url: location.name, last_success: lastSuccess, error: failure?.reason ?? null };
    },
    [Symbol.dispose]: copy[Symbol.dispose],
  };
}

/** Downloads what differs from the copy, or the whole file. */
function createDownloads(copy: CachedCopy, options: RemoteOptions) {
  const { location, folder, timeoutMs, clock = () => performance.now() } = options;
  const get = createGet(location, timeoutMs);
  /** The ETag that the source sent with the snapshot in the copy, and when. */
  let etag: string | null = null;
  let etagMs = 0;

  function condition(): Record<string, string> {
    const isTrusted = clock() - etagMs < MAX_TRUST_MS;
    return etag !== null && isTrusted ? { "if-none-match": etag } : {};
  }

  /** The copy has the snapshot that the reply belongs to. */
  function remember({ headers }: Reply): void {
    etag = headers.get("etag");
    etagMs = clock();
  }

  async function replaceCopy(write: (paths: Paths) => Promise<void>): Promise<void> {
    // The folder may have been removed by a program that cleans up temporary files.
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    await replaceLocked(copy.path, async (paths) => {
      await write(paths);
      await verifyFile(paths.next);
    });
    // Their servers may have ended since.
    await copy.removeOthers();
  }

  async function receiveFile(reply: Reply): Promise<void> {
    // A 206 has only a part of the snapshot, and a 204 has none.
    if (reply.status !== 200) throw new RequestError(`responded with ${reply.status}`);

    await replaceCopy(async ({ next }) => {
      // Opens the file without creating it, because a signal may have removed it by now.
      await pipeline(bound(reply.body, folder), createWriteStream(next, { flags: "r+" }));
    });
    remember(reply);
  }

  /** Downloads the blocks that have changed if there is a copy, or else the whole file. */
  async function download(hasCopy: boolean, isForced: boolean): Promise<void> {
    // Undefined also if the copy is lost, so the source must send it even if it has not changed.
    const own = hasCopy ? await readEnd(copy.path).catch(() => undefined) : undefined;
    const given = own && !isForced ? condition() : {};

    for (let times = 0; own && times < MAX_REPLACED; times++) {
      using reply = await get({ ...given, ...own.headers });
      if (reply.status === 304 && "if-none-match" in given) return;
      if (reply.status === 200) return await receiveFile(reply);

      try {
        await downloadBlocks(reply, own, get, replaceCopy);
        return remember(reply);
      } catch (error) {
        if (!canWholeFileCure(error)) throw error;
        if (!(error instanceof ReplacedError)) break;
      }
    }

    using reply = await get({});
    await receiveFile(reply);
  }

  const forgetTag = () => {
    etag = null;
  };
  return { download, forgetTag };
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
        size = parseHeader(head).fileBytes;
        await requireSpace(folder, size);
      }
    }

    received += chunk.length;
    if (received > size) throw new SnapshotError(`is damaged: it has more than ${size} bytes`);
    yield chunk;
  }
}
