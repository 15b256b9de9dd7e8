/**
 * Keeps a local copy of a remote snapshot, its source, in a folder that several servers may share. Only
 * a valid download replaces the copy. A copy that no server uses any more is removed, because it has the
 * names of users who were hidden since.
 */
import { mkdirSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { formatTime } from "../../domain/time.ts";
import { hash } from "../../files/bytes.ts";
import { reasonOf } from "../../files/errors.ts";
import { BusyError, lock, waitForLock } from "../../files/lock.ts";
import { publicReasonOf, SnapshotError } from "../format/layout.ts";
import { verifyFile } from "../format/open.ts";
import { download } from "./downloads.ts";
import { createGet, type RemoteLocation, RequestError } from "./location.ts";

/** After how long an ETag is not trusted any more. ../README.md says how it can mislead. */
const MAX_TRUST_MS = 180_000;

export interface RemoteOptions {
  location: RemoteLocation;
  /** How long a download may take without making progress. */
  timeoutMs: number;
  folder: string;
  /** An attempt has failed for a new reason, but there is a copy. `detail` is for the operator. */
  onDown(detail: string): void;
  onUp(): void;
  /** The lock that keeps other servers from removing the copy cannot be held. `reason` is for the operator. */
  onUnlocked(reason: string): void;
}

export interface RemoteStatus {
  url: string;
  /** When the source last had a good snapshot, new or unchanged, in ISO 8601. */
  last_success: string | null;
  error: string | null;
}

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
  const copy = await openCachedCopy(folder, location.identity, options.onUnlocked);
  let hasCopy = await verifyFile(copy.path).then(Boolean, () => false);
  const get = createGet(location, timeoutMs);
  /** The ETag that the source sent with the snapshot in the copy, and when. */
  let etag: string | null = null;
  let etagMs = 0;
  let lastSuccess: string | null = null;
  let failure: Failure | undefined;
  let lastAttempt = Promise.resolve();

  async function attempt(isForced: boolean): Promise<void> {
    const now = formatTime(Math.floor(Date.now() / 1000));
    try {
      const isTrusted = !isForced && performance.now() - etagMs < MAX_TRUST_MS;
      const received = await download(copy.path, get, hasCopy, isTrusted ? etag : null);
      if (received) {
        etag = received.get("etag");
        etagMs = performance.now();
        // Their servers may have ended since.
        await copy.removeOthers();
      }
      if (failure) onUp();
      hasCopy = true;
      lastSuccess = now;
      failure = undefined;
    } catch (error) {
      if (error instanceof SnapshotError) etag = null;
      const next = toFailure(error);
      if (hasCopy && next.detail !== failure?.detail) onDown(next.detail);
      failure = next;
    }
  }

  /** Requests the snapshot once, after any other request. Never rejects. */
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
    // Another server with the same folder is receiving it.
    isReceived: !(error instanceof BusyError),
  };
}

/** A copy, and the folder of a download that was killed. The lock files stay. */
const COPY = /^\.?([0-9a-f]{16})\.snapshot(?:\.new-\d*)?$/;
/** Another server holds the lock of an unused copy only while it removes that copy. */
const REMOVAL_MS = 10_000;

/**
 * Keeps other servers from removing the copy of a source, and removes copies that nobody uses.
 * `identity` is that of the source. Without a lock, as on a file system that has none, removes nothing.
 */
async function openCachedCopy(
  folder: string,
  identity: string,
  onUnlocked: RemoteOptions["onUnlocked"],
) {
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
  } catch (error) {
    onUnlocked(reasonOf(error));
  }
  if (use) await removeOthers();
  return { path, removeOthers, [Symbol.dispose]: () => use?.[Symbol.dispose]() };
}

const lockOf = (folder: string, id: string) => join(folder, `.${id}.in-use.lock`);

async function removeIfUnused(folder: string, id: string, name: string): Promise<void> {
  using _unused = lock(lockOf(folder, id));
  await rm(join(folder, name), { recursive: true, force: true });
}
