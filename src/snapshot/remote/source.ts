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
  folder: string;
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

export type Source = Awaited<ReturnType<typeof openSource>>;

/**
 * Downloads the snapshot. If an earlier process left a copy in the folder, that copy is used when
 * the download fails, or until a slow download completes. Throws an error for the operator if there
 * is neither a download nor a copy.
 */
export async function openSource({ location, folder, timeoutMs, onDown, onUp }: SourceOptions) {
  const { name: url } = location;
  const id = createHash("sha256").update(url).digest("hex").slice(0, 16);
  const path = join(folder, `${id}.snapshot`);
  const status: SourceStatus = { url, last_try: "", last_success: null, bytes: 0, error: null };
  const earlier = await openInPlace(path).catch(() => undefined);
  earlier?.close();
  let hasCopy = earlier !== undefined;
  /** Why the snapshot at the source is refused. Undefined if the copy is that snapshot. */
  let refused: SnapshotError | undefined;
  /** The headers that make the source send nothing unless the snapshot has changed. */
  let conditions: Record<string, string> = {};
  let lastAttempt = Promise.resolve(false);

  async function attempt(isForced: boolean): Promise<boolean> {
    status.last_try = formatTime(Math.floor(Date.now() / 1000));
    try {
      const isNew = await download(isForced && refused ? {} : conditions);
      if (status.error !== null) onUp();
      status.last_success = status.last_try;
      status.error = null;
      return isNew;
    } catch (error) {
      // Anyone can read the reason, so it must not contain the path of the copy.
      const reason = reasonOfFailure(error)
        .replaceAll(path, "the cache")
        .replaceAll(folder, "the cache");
      if (hasCopy && reason !== status.error) onDown(reason);
      status.error = reason;
      return false;
    }
  }

  /** Requests the snapshot once, and resolves to whether the copy has changed. */
  async function download(conditional: Record<string, string>): Promise<boolean> {
    const { url, headers } = location.prepare();
    const response = await fetch(url, {
      headers: { ...headers, ...conditional },
      signal: AbortSignal.timeout(timeoutMs),
    }).catch((error: unknown) => {
      throw new Error(`cannot be reached: ${networkReasonOf(error, timeoutMs)}`);
    });
    // A 206 has only a part of the snapshot, and a 204 has none.
    if (response.status !== 200) {
      await response.body?.cancel();
      if (response.status !== 304) throw new Error(`responded with ${response.status}`);
      if (refused) throw refused;
      return false;
    }
    refused = undefined;
    try {
      // The folder may have been removed by a program that cleans up temporary files.
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      await replaceLocked(path, async ({ path }) => {
        status.bytes += await save(response, path, timeoutMs);
        (await openInPlace(path)).close();
      });
    } catch (error) {
      // If reading the body is what failed, cancelling it fails too.
      await response.body?.cancel().catch(() => {});
      if (!(error instanceof SnapshotError)) throw error;
      refused = error;
    }
    conditions = conditionsOf(response);
    if (refused) throw refused;
    hasCopy = true;
    return true;
  }

  /**
   * Checks for a new snapshot and resolves to whether the copy has changed. A snapshot that was
   * refused is downloaded again only after it has changed, or if `isForced` is set.
   */
  function refresh(isForced = false): Promise<boolean> {
    lastAttempt = lastAttempt.then(() => attempt(isForced));
    return lastAttempt;
  }

  const first = refresh();
  await (hasCopy ? Promise.race([first, sleep(timeoutMs * START_SHARE)]) : first);
  if (!hasCopy) throw new Error(`${url} ${status.error}`);
  return { path, refresh, status: (): SourceStatus => ({ ...status }) };
}

function reasonOfFailure(error: unknown): string {
  if (isFileSystemError(error)) return `cannot write the cache: ${reasonOf(error)}`;
  return error instanceof SnapshotError ? error.reason : reasonOf(error);
}

function conditionsOf({ headers }: Response): Record<string, string> {
  const [etag, modified] = [headers.get("etag"), headers.get("last-modified")];
  if (etag) return { "if-none-match": etag };
  return modified ? { "if-modified-since": modified } : {};
}

/**
 * Writes a body to a file and returns the number of bytes. Stops if the body does not begin with
 * the header of a snapshot, or is longer than the header declares, so that a wrong URL cannot fill
 * the disk.
 */
async function save({ body }: Response, path: string, timeoutMs: number): Promise<number> {
  let written = 0;
  async function* check() {
    let head: Uint8Array = new Uint8Array();
    let declared = 0;
    for await (const chunk of readBody(body, timeoutMs)) {
      if (declared === 0) head = Buffer.concat([head, chunk]);
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

async function* readBody(body: Response["body"], timeoutMs: number): AsyncGenerator<Uint8Array> {
  try {
    yield* body ?? [];
  } catch (error) {
    throw new Error(`stopped sending: ${networkReasonOf(error, timeoutMs)}`);
  }
}
