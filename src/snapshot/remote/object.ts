/**
 * Replaces snapshots that are not plain files: objects in an S3-compatible store, and compressed
 * files. A command works on a plain temporary file, which is then compressed or uploaded. An object
 * is uploaded as a whole, and only if the stored object has not changed since it was downloaded.
 */
import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import zlib from "node:zlib";
import { inTemporaryFolder, rehearseFile, replaceFile } from "../../files/replace.ts";
import type { RemoteLocation } from "./location.ts";
import { saveSnapshot } from "./save.ts";
import { readBody, TransferError, transfer } from "./transfer.ts";

const CONFLICT =
  "was changed by another command in the meantime, so nothing was written; run this command " +
  "again (with --unconditional if nothing else writes to it)";
const UNSUPPORTED =
  "is in a store without conditional writes (If-Match), so two commands at once could lose a " +
  "change; write from one machine only, with --unconditional";
const OVERWRITTEN =
  "was replaced right after it was written, so the store seems to ignore If-Match; " +
  "run this command again, or write from one machine only, with --unconditional";

/** Enough for the largest object (5 GB) at 1 MB per second. */
const TIMEOUT_MS = 5000 * 1000;
const QUICK_TIMEOUT_MS = 30_000;

export interface PutOptions {
  /** Replaces an object even if another command has changed it in the meantime. */
  unconditional?: boolean | undefined;
  /** Replaces the target even if it is damaged or not a snapshot. */
  force?: boolean | undefined;
  /** Does everything except replace the target. */
  dryRun?: boolean | undefined;
}

/**
 * Replaces the object at `location`. `write` receives the path of a temporary file and
 * replaces that file. If the object exists, the file contains the old snapshot. Errors name the
 * location instead of the temporary file.
 */
export function replaceObject<T>(
  location: RemoteLocation,
  write: (path: string) => Promise<T>,
  { unconditional = false, force = false, dryRun = false }: PutOptions = {},
): Promise<T> {
  return inTemporaryFolder(async (folder) => {
    const path = join(folder, "snapshot");
    try {
      const response = await getObject(location, path, force);
      const condition = unconditional ? undefined : conditionOf(response);
      const result = await write(path);
      if (dryRun) return result;
      const sent = location.name.endsWith(".zst") ? await compress(path, `${path}.zst`) : path;
      await putObject(location, sent, condition);
      return result;
    } catch (error) {
      throw namingTarget(error, path, location.name);
    }
  });
}

/** Replaces the zstd-compressed file `target` in the same way as {@link replaceObject}. */
export function replaceCompressed<T>(
  target: string,
  write: (path: string) => Promise<T>,
  { force = false, dryRun = false }: PutOptions = {},
): Promise<T> {
  const put = dryRun ? rehearseFile : replaceFile;
  return put(target, async (path, old) => {
    const plain = join(dirname(path), "plain");
    try {
      if (existsSync(old)) await saveOld(createReadStream(old), plain, force);
      const result = await write(plain);
      if (!dryRun) await compress(plain, path);
      return result;
    } catch (error) {
      throw namingTarget(error, plain, target);
    }
  });
}

async function compress(from: string, to: string): Promise<string> {
  const output = createWriteStream(to, { flags: "wx" });
  await pipeline(createReadStream(from), zlib.createZstdCompress(), output);
  return to;
}

/**
 * Saves the old snapshot to a file. Any schema version is accepted, because an import reads only
 * the old metadata.
 */
async function saveOld(
  input: AsyncIterable<Uint8Array>,
  path: string,
  force: boolean,
): Promise<void> {
  try {
    await saveSnapshot(input, path, true);
  } catch (error) {
    if (!force || error instanceof TransferError) throw error;
    await rm(path, { force });
  }
}

async function getObject(
  location: RemoteLocation,
  path: string,
  force: boolean,
): Promise<Response> {
  const options = { timeoutMs: TIMEOUT_MS, expected: [404] };
  const response = await transfer(location, "GET", options);
  if (response.ok) await saveOld(readBody(response, TIMEOUT_MS), path, force);
  return response;
}

/** Returns headers that make a PUT fail if the object has changed since this response to a GET. */
function conditionOf({ status, headers }: Response): Record<string, string> {
  if (status === 404) return { "if-none-match": "*" };
  const etag = headers.get("etag");
  if (etag === null) throw new TransferError(UNSUPPORTED);
  return { "if-match": etag };
}

async function putObject(
  location: RemoteLocation,
  file: string,
  condition: Record<string, string> | undefined,
): Promise<void> {
  const response = await transfer(location, "PUT", {
    headers: condition ?? {},
    file,
    timeoutMs: TIMEOUT_MS,
    expected: condition ? [409, 412, 501] : [],
  });
  if (response.status === 501) throw new TransferError(UNSUPPORTED);
  if (!response.ok) throw new TransferError(CONFLICT);
  const written = response.headers.get("etag");
  if (!condition || written === null) return;
  // The object has already been written, so a failure of this request is ignored.
  const found = await transfer(location, "HEAD", { timeoutMs: QUICK_TIMEOUT_MS }).catch(() => {});
  if (found && found.headers.get("etag") !== written) throw new TransferError(OVERWRITTEN);
}

/** Rewrites an error about the temporary file so that it names the target instead. */
function namingTarget(error: unknown, path: string, name: string): unknown {
  if (error instanceof TransferError) return new Error(`${name} ${error.message}`);
  if (error instanceof Error) {
    // If a disk is full, the folder shows that the disk is this machine's, not the store's.
    const written = `cannot write ${name} (prepared in ${dirname(path)})`;
    error.message = error.message
      .replaceAll(`cannot write ${path}`, written)
      .replaceAll(path, name);
  }
  return error;
}
