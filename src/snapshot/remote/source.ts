/** Keeps a local copy of a snapshot on another machine. Only a valid download replaces it. */
import { createHash } from "node:crypto";
import { createWriteStream, mkdirSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { formatTime } from "../../domain/time.ts";
import { isFileSystemError, reasonOf } from "../../files/errors.ts";
import { type Paths, replaceLocked } from "../../files/replace.ts";
import { requireSpace } from "../../files/temporary-folder.ts";
import { HEADER_BYTES, parseSizes, SnapshotError } from "../format/header-trailer.ts";
import { verifyFile } from "../format/open.ts";
import { downloadBlocks, ReplacedError, readEnd } from "./download-blocks.ts";
import { createGet, type RemoteLocation, type Reply } from "./location.ts";

export interface SourceOptions {
  location: RemoteLocation;
  folder: string;
  /** How long a download may take without making progress. */
  timeoutMs: number;
  /** An attempt has failed for a new reason, but there is a copy. */
  onDown(reason: string): void;
  onUp(): void;
}

export interface SourceStatus {
  url: string;
  /** When the source last had a good snapshot, new or unchanged, in ISO 8601. */
  last_success: string | null;
  error: string | null;
}

export type Source = Awaited<ReturnType<typeof openSource>>;

/** If the download fails or is slow, uses the copy that an earlier process left in the folder. */
export async function openSource({ location, folder, timeoutMs, onDown, onUp }: SourceOptions) {
  const { name: url } = location;
  const id = createHash("sha256").update(url).digest("hex").slice(0, 16);
  const path = join(folder, `${id}.snapshot`);
  let hasCopy = await verifyFile(path).then(Boolean, () => false);
  /** The version of the snapshot that was last received, and why it is refused, if it is. */
  let etag: string | null = null;
  let refused: SnapshotError | undefined;
  let last_success: string | null = null;
  let failure: { reason: string; isReceived: boolean } | undefined;
  let lastAttempt = Promise.resolve();

  async function attempt(): Promise<void> {
    const now = formatTime(Math.floor(Date.now() / 1000));
    try {
      await download();
      if (failure) onUp();
      [last_success, failure] = [now, undefined];
    } catch (error) {
      // Anyone can read the reason, so it must not contain the path of the copy.
      const reason = reasonOfFailure(error).replaceAll(folder, "the cache");
      if (hasCopy && reason !== failure?.reason) onDown(reason);
      failure = { reason, isReceived: error instanceof SnapshotError || isFileSystemError(error) };
    }
  }

  const get = createGet(location, timeoutMs);

  /** `tries` is how often the source may replace the snapshot before the whole file is needed. */
  async function download(tries = 3): Promise<void> {
    const own = hasCopy && tries > 0 ? await readEnd(path).catch(() => undefined) : undefined;
    const reply = await get({ ...(etag && { "if-none-match": etag }), ...own?.headers });
    if (!own || reply.status === 200 || reply.status === 304) return await downloadAll(reply);
    try {
      await downloadBlocks(reply, own, get, replaceCopy);
      [etag, refused] = [reply.headers.get("etag"), undefined];
    } catch (error) {
      // Whatever is wrong with the blocks, the whole file may be fine.
      return await download(error instanceof ReplacedError ? tries - 1 : 0);
    }
  }

  async function downloadAll({ status, headers, body }: Reply): Promise<void> {
    if (status === 304 && etag !== null) {
      if (refused) throw refused;
      return;
    }
    // A 206 has only a part of the snapshot, and a 204 has none.
    if (status !== 200) throw new Error(`responded with ${status}`);
    refused = undefined;
    try {
      await replaceCopy(async ({ path }) => {
        // Opens the file without creating it, because a signal may have removed it by now.
        await pipeline(bound(body, folder), createWriteStream(path, { flags: "r+" }));
      });
      hasCopy = true;
    } catch (error) {
      if (!(error instanceof SnapshotError)) throw error;
      refused = error;
    }
    etag = headers.get("etag");
    if (refused) throw refused;
  }

  async function replaceCopy(write: (paths: Paths) => Promise<void>): Promise<void> {
    // The folder may have been removed by a program that cleans up temporary files.
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    await replaceLocked(path, async (paths) => {
      await write(paths);
      await verifyFile(paths.path);
    });
  }

  const refresh = () => (lastAttempt = lastAttempt.then(attempt));

  const first = refresh();
  // A slow download need not delay the start if there is a copy.
  await (hasCopy ? Promise.race([first, sleep(timeoutMs / 10)]) : first);
  if (!hasCopy) throw new Error(`${url} ${failure?.reason}`);
  return {
    path,
    refresh,
    async poll(everyMs: number): Promise<never> {
      for (;;) {
        // Servers that were started together must not send their requests at the same time.
        await sleep(everyMs * (1 - Math.random() / 5));
        await refresh();
      }
    },
    /** Why the snapshot at the source cannot be served, if it was received. */
    refused: () => (failure?.isReceived ? failure.reason : undefined),
    status: (): SourceStatus => ({ url, last_success, error: failure?.reason ?? null }),
  };
}

function reasonOfFailure(error: unknown): string {
  if (isFileSystemError(error)) return `cannot be cached: ${reasonOf(error)}`;
  return error instanceof SnapshotError ? error.reason : reasonOf(error);
}

/** Yields no more than the snapshot's header declares, which must fit on the disk of `folder`. */
async function* bound(body: AsyncIterable<Uint8Array>, folder: string): AsyncGenerator<Uint8Array> {
  let head = Buffer.alloc(0);
  let [received, size] = [0, Number.POSITIVE_INFINITY];
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
