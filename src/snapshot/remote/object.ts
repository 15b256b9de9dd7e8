/**
 * Writes snapshots that are no plain file: an object in a store that speaks S3, or a compressed file.
 * A plain file stands for them while they are written. Objects are put whole, on the condition that
 * nobody has put another one since they were read.
 */
import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import zlib from "node:zlib";
import { inTemporaryFolder, rehearseFile, replaceFile } from "../../files/replace.ts";
import type { Location } from "./location.ts";
import { saveSnapshot } from "./save.ts";
import { readBody, TransferError, transfer } from "./transfer.ts";

const CONFLICT =
  "has been changed by another command meanwhile, so nothing was written: run this one again, " +
  "with --unconditional if nothing else writes it";
const UNSUPPORTED =
  "is in a store without conditional writes (If-Match), so two commands at once could lose a change: " +
  "let one machine write it, with --unconditional";
const OVERWRITTEN =
  "was replaced right after it was written, as in a store that ignores If-Match: run this one again, " +
  "or let one machine write it, with --unconditional";

/** One object is at most 5 GB, which takes so long at a megabyte a second. */
const TIMEOUT_MS = 5000 * 1000;
const QUICK_TIMEOUT_MS = 30_000;

export interface PutOptions {
  /** Writes an object even if another command has put one meanwhile. */
  unconditional?: boolean | undefined;
  /** Takes an old snapshot that is damaged for none. */
  force?: boolean | undefined;
  /** Does everything but put the new snapshot in the place of the old one. */
  dryRun?: boolean | undefined;
}

/**
 * Has `write` replace a plain snapshot file, which holds what the object at `location` holds or is not
 * there, and puts that file in the place of the object. Throws what `write` throws, and errors that name
 * the location.
 */
export function replaceObject<T>(
  location: Location,
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
      throw renamed(error, path, location.name);
    }
  });
}

/** The same for a file `target` that is compressed with zstd. */
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
      throw renamed(error, plain, target);
    }
  });
}

async function compress(from: string, to: string): Promise<string> {
  const output = createWriteStream(to, { flags: "wx" });
  await pipeline(createReadStream(from), zlib.createZstdCompress(), output);
  return to;
}

/** Saves what is replaced, whatever its schema, as it is counted. */
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

async function getObject(location: Location, path: string, force: boolean): Promise<Response> {
  const options = { timeoutMs: TIMEOUT_MS, expected: [404] };
  const response = await transfer(location, "GET", options);
  if (response.ok) await saveOld(readBody(response, TIMEOUT_MS), path, force);
  return response;
}

/** The headers of a PUT that must fail when the object is no longer the one of that response. */
function conditionOf({ status, headers }: Response): Record<string, string> {
  if (status === 404) return { "if-none-match": "*" };
  const etag = headers.get("etag");
  if (etag === null) throw new TransferError(UNSUPPORTED);
  return { "if-match": etag };
}

async function putObject(
  location: Location,
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
  // The object is written: a store that cannot be asked again is no failure of that.
  const found = await transfer(location, "HEAD", { timeoutMs: QUICK_TIMEOUT_MS }).catch(() => {});
  if (found && found.headers.get("etag") !== written) throw new TransferError(OVERWRITTEN);
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
