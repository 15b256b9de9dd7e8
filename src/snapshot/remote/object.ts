/**
 * Writes snapshots that are no plain file: an object in a store that speaks S3, or a compressed file.
 * A plain file stands for them while they are written. Objects are put whole, on the condition that
 * nobody has put another one since they were read.
 */
import { createReadStream, createWriteStream, existsSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { decompress } from "../../files/decompress.ts";
import { inTemporaryFolder, replaceFile } from "../../files/replace.ts";
import type { Location } from "./location.ts";
import { compressFile, saveBody, statusError, TransferError, transfer } from "./transfer.ts";

/** The store has another object than the one that was read. */
const CONFLICT =
  "has been changed by another command meanwhile, so nothing was written; run this one again";

/** One object is at most 5 GB, which takes so long at a megabyte a second. */
const TIMEOUT_MS = 5000 * 1000;
const QUICK_TIMEOUT_MS = 30_000;

/** Between what is written and the last look at it, at least. */
const MIN_WAIT_MS = 500;

/**
 * Has `write` replace a plain snapshot file, which holds what the object at `location` holds or is not
 * there, and puts that file in the place of the object. Throws what `write` throws, and errors that
 * name the location.
 */
export function replaceObject<T>(
  location: Location,
  write: (path: string) => Promise<T>,
): Promise<T> {
  return inTemporaryFolder(async (folder) => {
    const path = join(folder, "snapshot");
    try {
      const etag = await getObject(location, path);
      const result = await write(path);
      if (location.name.endsWith(".zst")) await compressFile(path);
      await putObject(location, path, etag);
      return result;
    } catch (error) {
      throw renamed(error, path, location.name);
    }
  });
}

/** The same for a file `target` that is compressed with zstd. */
export function replaceCompressed<T>(
  target: string,
  write: (path: string) => Promise<T>,
): Promise<T> {
  return replaceFile(target, async (path, old) => {
    const plain = join(dirname(path), "plain");
    try {
      if (existsSync(old)) {
        const input = createReadStream(old);
        await pipeline(decompress(input), createWriteStream(plain, { flags: "wx" }));
      }
      const result = await write(plain);
      await compressFile(plain);
      renameSync(plain, path);
      return result;
    } catch (error) {
      throw renamed(error, plain, target);
    }
  });
}

/** Gets an object; returns its ETag, or undefined when there is no object. */
function getObject(location: Location, path: string): Promise<string | undefined> {
  return transfer(location, "GET", { timeoutMs: TIMEOUT_MS }, async (response) => {
    if (response.status === 404) {
      await response.body?.cancel();
      return undefined;
    }
    if (response.status !== 200) throw await statusError(response);
    await saveBody(response, path, TIMEOUT_MS);
    return requireTag(response);
  });
}

/** Forms of the condition that nobody has put another object since, to be tried in this order. */
function conditionsFor(etag: string | undefined): Record<string, string>[] {
  if (etag === undefined) return [{ "if-none-match": "*" }];
  // Ceph and what is built on it never find an ETag in quotes.
  return [{ "if-match": etag }, { "if-match": etag.replaceAll('"', "") }];
}

/** Puts an object in the place of the one with that ETag, or where there is none. */
async function putObject(
  location: Location,
  path: string,
  etag: string | undefined,
  [headers = {}, ...others] = conditionsFor(etag),
): Promise<void> {
  // A store may ignore the condition. So the object is looked at just before, and again when others
  // who had looked before this one was there have put theirs, unless they are many times slower.
  if ((await findTag(location)) !== etag) throw new TransferError(CONFLICT);
  const options = { headers, file: path, timeoutMs: TIMEOUT_MS };
  const began = performance.now();
  const written = await transfer(location, "PUT", options, async (response) => {
    if (response.ok) return requireTag(response);
    const error = await statusError(response);
    const { status } = response;
    if (status === 412 || status === 409) return others;
    // Swift refuses all conditions.
    if (status === 501 && Object.keys(headers).length > 0) return [{}];
    throw error;
  });
  if (typeof written !== "string") {
    if (written.length === 0) throw new TransferError(CONFLICT);
    return putObject(location, path, etag, written);
  }
  const isWritten = async () => (await findTag(location)) === written;
  if (await isWritten()) {
    await Bun.sleep(Math.max(MIN_WAIT_MS, 3 * (performance.now() - began)));
    if (await isWritten()) return;
  }
  throw new TransferError(
    "has been replaced by another command at once, and a store that ignores If-Match may have lost this change; run this one again",
  );
}

function findTag(location: Location): Promise<string | undefined> {
  return transfer(location, "HEAD", { timeoutMs: QUICK_TIMEOUT_MS }, async (response) => {
    if (response.status === 404) return undefined;
    if (response.status !== 200) throw await statusError(response);
    return requireTag(response);
  });
}

function requireTag(response: Response): string {
  const etag = response.headers.get("etag");
  if (etag === null) throw new TransferError("has no ETag, so a change by others would be lost");
  return etag;
}

/** Errors name what the file stands for. */
function renamed(error: unknown, path: string, name: string): unknown {
  if (error instanceof TransferError) return new Error(`${name} ${error.message}`);
  if (error instanceof Error) {
    // It is this machine's disk that is full.
    const written = `cannot write ${name} by way of ${dirname(path)}`;
    error.message = error.message
      .replaceAll(`cannot write ${path}`, written)
      .replaceAll(path, name);
  }
  return error;
}
