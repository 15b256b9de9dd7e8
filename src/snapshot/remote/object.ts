/**
 * Writes snapshots that are no plain file: an object in a store that speaks S3, or a compressed file.
 * A plain file stands for them while they are written. Objects are put whole, on the condition that
 * nobody has put another one since they were read.
 */
import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createZstdCompress } from "node:zlib";
import { inTemporaryFolder, replaceFile } from "../../files/replace.ts";
import type { Location } from "./location.ts";
import { saveSnapshot } from "./save.ts";
import { readBody, TransferError, transfer } from "./transfer.ts";

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
      const sent = location.name.endsWith(".zst") ? await compress(path, `${path}.zst`) : path;
      await putObject(location, sent, etag);
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
      if (existsSync(old)) await saveSnapshot(createReadStream(old), plain, true);
      const result = await write(plain);
      await compress(plain, path);
      return result;
    } catch (error) {
      throw renamed(error, plain, target);
    }
  });
}

async function compress(from: string, to: string): Promise<string> {
  const output = createWriteStream(to, { flags: "wx" });
  await pipeline(createReadStream(from), createZstdCompress(), output);
  return to;
}

/** Gets an object; returns its ETag, or undefined when there is no object. */
async function getObject(location: Location, path: string): Promise<string | undefined> {
  const options = { timeoutMs: TIMEOUT_MS, expected: [404] };
  const response = await transfer(location, "GET", options);
  // An import counts what it replaces, whatever its schema.
  if (response.ok) await saveSnapshot(readBody(response, TIMEOUT_MS), path, true);
  return tagOf(response);
}

/** Puts an object in the place of the one with that ETag, or where there is none. */
async function putObject(
  location: Location,
  file: string,
  etag: string | undefined,
): Promise<void> {
  let began = 0;
  // A store may ignore the condition. So the object is looked at just before, and again when others
  // who had looked before this one was there have put theirs, unless they are many times slower.
  const put = async (condition?: Record<string, string>) => {
    if ((await findTag(location)) !== etag) throw new TransferError(CONFLICT);
    began = performance.now();
    return transfer(location, "PUT", {
      headers: condition ?? {},
      file,
      timeoutMs: TIMEOUT_MS,
      expected: condition ? [409, 412, 501] : [409, 412],
    });
  };
  const isRefused = ({ status }: Response) => status === 409 || status === 412;

  let response = await put(etag === undefined ? { "if-none-match": "*" } : { "if-match": etag });
  if (isRefused(response) && etag !== undefined) {
    // Ceph and what is built on it never find an ETag in quotes.
    response = await put({ "if-match": etag.replaceAll('"', "") });
  }
  // Swift refuses all conditions.
  if (response.status === 501) response = await put();
  if (isRefused(response)) throw new TransferError(CONFLICT);
  try {
    // Some stores send no ETag in the response to a PUT.
    const written = response.headers.get("etag") ?? (await findTag(location));
    const isWritten = async () => (await findTag(location)) === written;
    if (await isWritten()) {
      await Bun.sleep(Math.max(MIN_WAIT_MS, 3 * (performance.now() - began)));
      if (await isWritten()) return;
    }
  } catch (error) {
    if (!(error instanceof TransferError)) throw error;
    throw new TransferError(
      `has been written, but may have been replaced by another command at once: it ${error.message}`,
    );
  }
  throw new TransferError(
    "has been replaced by another command at once, and a store that ignores If-Match may have lost this change; run this one again",
  );
}

async function findTag(location: Location): Promise<string | undefined> {
  const options = { timeoutMs: QUICK_TIMEOUT_MS, expected: [404] };
  return tagOf(await transfer(location, "HEAD", options));
}

/** The ETag of an object; undefined when there is none. */
function tagOf({ status, headers }: Response): string | undefined {
  if (status === 404) return undefined;
  const etag = headers.get("etag");
  if (etag === null)
    throw new TransferError("has no ETag, so a change by others would not be noticed");
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
