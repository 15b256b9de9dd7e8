/**
 * Keeps a local copy of a snapshot that lies elsewhere: asks for it again, and puts a new one in the
 * place of the copy when every byte of it is right. Nothing here watches the clock; who owns it says
 * when to ask.
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
import type { Location } from "./location.ts";
import { saveSnapshot } from "./save.ts";
import { readBody, TransferError, transfer } from "./transfer.ts";

export interface SourceOptions {
  location: Location;
  cacheFolder: string;
  /** A download may take so long. */
  timeoutMs: number;
  /** A snapshot that was built before the one that is there is no error. */
  allowOlder: boolean;
  /** Called when a try fails and there is an older copy, once for each reason in a row. */
  onDown(reason: string): void;
  /** Called at the first good try after failed ones. */
  onUp(): void;
}

/** Where a snapshot comes from, and how it went. Timestamps are ISO 8601. */
export interface SourceStatus {
  url: string;
  last_try: string;
  /** When the source last had a good snapshot, new or not. */
  last_success: string | null;
  /** Bytes received since the start, of what arrived whole. */
  bytes: number;
  /** Why the last try failed. */
  error: string | null;
}

export type Source = Awaited<ReturnType<typeof openSource>>;

/** A bit may flip on the way: what is bad so often in a row is bad at its source. */
const MAX_DOWNLOADS = 3;

/** A start from a copy waits so much of the time that a download may take. */
const START_SHARE = 0.1;

class Unchanged extends Error {}

/**
 * Gets the snapshot at `location`, or the copy of it that an earlier process left in `cacheFolder`, also
 * when the snapshot takes long to come: it replaces the copy then. Throws an error for the operator when
 * there is neither.
 */
export async function openSource(options: SourceOptions) {
  const { location, cacheFolder, allowOlder, timeoutMs } = options;
  const id = createHash("sha256").update(location.name).digest("hex").slice(0, 16);
  const path = join(cacheFolder, `${id}.snapshot`);
  const tagPath = `${path}.etag`;
  let copy: Meta | undefined;
  let etag: string | undefined;
  /** The file at the path when it was last looked at, and whether it was the copy. */
  let identity = "";
  let isThere = false;
  let rejected: { etag: string; reason: string; downloads: number } | undefined;
  const status: SourceStatus = {
    url: location.name,
    last_try: "",
    last_success: null,
    bytes: 0,
    error: null,
  };

  /** Takes over a file that an earlier process, or another one meanwhile, has put at the path. */
  async function adopt(): Promise<boolean> {
    const found = findIdentity(path);
    if (found === identity) return false;
    identity = found;
    const meta = await readMetaOf(path).catch(() => undefined);
    etag = meta && readTag(tagPath, meta);
    copy = meta ?? copy;
    isThere = meta !== undefined;
    return isThere;
  }

  /** Saves a response to a file; returns its facts when it must replace the copy. */
  async function save(response: Response, file: string): Promise<Meta> {
    const tag = tagOf(response);
    try {
      status.bytes += await saveSnapshot(readBody(response, timeoutMs), file);
      const found = await readMetaOf(file);
      // A server without ETags sends the same again and again.
      const isSame = isThere && JSON.stringify(found) === JSON.stringify(copy);
      if (!isSame && copy && !allowOlder && found.built_at_ms < copy.built_at_ms) {
        const served = `the one that is served (${copy.built_at})`;
        const reason = `was built at ${found.built_at}, before ${served}; --allow-older accepts it`;
        throw new SnapshotError(file, reason);
      }
      // Before the rename: the lock is held until then, so no other process sees a wrong tag.
      writeTag(tagPath, tag, found);
      if (isSame) throw new Unchanged();
      return found;
    } catch (error) {
      // A download that was cut off is tried again.
      if (tag !== undefined && error instanceof SnapshotError && !error.isPassing) {
        const downloads = rejected?.etag === tag ? rejected.downloads + 1 : 1;
        rejected = { etag: tag, reason: error.reason, downloads };
      }
      throw error;
    }
  }

  /** Whether the copy is another one now. */
  async function fetchChanged(isForced: boolean): Promise<boolean> {
    const settled = !isForced && rejected && rejected.downloads >= MAX_DOWNLOADS ? rejected : null;
    const known = settled ? settled.etag : etag;
    const condition = known && { headers: { "if-none-match": known }, expected: [304] };
    const response = await transfer(location, "GET", { timeoutMs, ...condition });
    if (!response.ok && settled) throw new TransferError(settled.reason);
    let isNew = response.ok;
    if (isNew) {
      try {
        copy = await replaceFile(path, (file) => save(response, file));
        identity = findIdentity(path);
        isThere = true;
      } catch (error) {
        // It may not have been read at all, or it is the body that failed.
        await response.body?.cancel().catch(() => {});
        if (!(error instanceof Unchanged)) throw error;
        isNew = false;
      }
      etag = tagOf(response);
    }
    rejected = undefined;
    return isNew;
  }

  /** The same. Waits while another process fetches into the same folder, to use its copy. */
  async function fetchInTurn(isForced: boolean): Promise<boolean> {
    for (const end = performance.now() + timeoutMs; ; ) {
      // A program that tidies temporary folders may have removed it.
      mkdirSync(cacheFolder, { recursive: true, mode: 0o700 });
      const isAdopted = await adopt();
      try {
        return (await fetchChanged(isForced)) || isAdopted;
      } catch (error) {
        if (!(error instanceof BusyError)) throw error;
        if (!(await untilFree(path, end - performance.now()))) {
          const seconds = timeoutMs / 1000;
          throw new TransferError(`is being fetched by another process for over ${seconds} s`);
        }
      }
    }
  }

  /** Why the last try failed, for the operator. */
  let failure = "";

  async function attempt(isForced: boolean): Promise<boolean> {
    status.last_try = formatTime(Math.floor(Date.now() / 1000));
    try {
      const isNew = await fetchInTurn(isForced);
      if (status.error !== null) options.onUp();
      status.last_success = status.last_try;
      status.error = null;
      return isNew;
    } catch (error) {
      failure = reasonFor(error, path);
      // The log is the operator's; the status is shown to everybody.
      const reason = failure.replaceAll(path, "the cache").replaceAll(cacheFolder, "the cache");
      if (copy && reason !== status.error) options.onDown(failure);
      status.error = reason;
      return false;
    }
  }

  await adopt();
  let lastTry = attempt(false);
  // Who has a copy need not wait until a source that hangs has used up its time.
  await (copy ? Promise.race([lastTry, sleep(timeoutMs * START_SHARE)]) : lastTry);
  if (!copy) throw new Error(`${location.name} ${failure}`);
  return {
    /** The file of the copy. */
    path,
    /**
     * Asks for the snapshot; resolves to whether the copy is another one now. What has been rejected
     * several times is not downloaded again before it changes, or with `isForced`.
     */
    refresh(isForced = false): Promise<boolean> {
      lastTry = lastTry.then(() => attempt(isForced));
      return lastTry;
    },
    status: (): SourceStatus => ({ ...status }),
  };
}

/** Its facts, when every byte is right. Throws a {@link SnapshotError}. */
async function readMetaOf(path: string): Promise<Meta> {
  const { meta, close } = await openSnapshot(path);
  close();
  return meta;
}

/** A sentence that may name `path`. */
function reasonFor(error: unknown, path: string): string {
  if (error instanceof SnapshotError) return error.reason;
  if (isFileSystemError(error)) return `cannot write ${path}: ${reasonOf(error)}`;
  return error instanceof Error ? error.message : String(error);
}

function tagOf({ headers }: Response): string | undefined {
  return headers.get("etag") ?? undefined;
}

function writeTag(tagPath: string, etag: string | undefined, meta: Meta): void {
  if (etag === undefined) rmSync(tagPath, { force: true });
  else writeFileSync(tagPath, JSON.stringify({ etag, meta }));
}

/** The ETag of the copy, whose facts are `meta`; undefined when the saved one belongs to another file. */
function readTag(tagPath: string, meta: Meta): string | undefined {
  try {
    const tag = JSON.parse(readFileSync(tagPath, "utf8"));
    const isOfCopy = JSON.stringify(tag.meta) === JSON.stringify(meta);
    return isOfCopy && typeof tag.etag === "string" ? tag.etag : undefined;
  } catch {
    return undefined;
  }
}
