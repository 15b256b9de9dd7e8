/**
 * Opens a snapshot from a file or from bytes, after verifying every byte. A server reads a private
 * copy, so nothing that happens to the file afterwards reaches a response.
 */
import { join } from "node:path";
import { sqlite } from "#sqlite";
import { codeOf, reasonOf } from "../../files/errors.ts";
import { openFile } from "../../files/read.ts";
import { copyIfSpace, makeTemporaryFolder, TEMPORARY } from "../../files/temporary-folder.ts";
import { openSearch } from "../../search/results.ts";
import type { Database } from "../../sqlite/driver.ts";
import { parseHeader, readHeader, SnapshotError, verifyChecksum } from "../format/file.ts";
import { readMeta, refuseOlder } from "../format/meta.ts";
import { openCompanies } from "./companies.ts";
import { openUsers } from "./users.ts";

export type Snapshot = Awaited<ReturnType<typeof openSnapshot>>;

export interface VerifiedDatabase {
  db: Database;
  sha256: string;
  close(): void;
}

/** A file of up to this size is read into memory. A larger file is copied and mapped. */
export const MAX_BYTES_IN_MEMORY = 8 * 2 ** 20;

/** Opens a snapshot from its path or its bytes. Throws a {@link SnapshotError} if that fails. */
export async function openSnapshot(source: string | Uint8Array, copyFolder?: string) {
  const database = await openPrivate(source, copyFolder);
  try {
    return snapshotOf(database);
  } catch (error) {
    database.close();
    throw snapshotError(source, error);
  }
}

export function snapshotOf({ db, sha256, close }: VerifiedDatabase) {
  const parts = { users: openUsers(db), companies: openCompanies(db), search: openSearch(db) };
  return { meta: readMeta(db), sha256, ...parts, close };
}

export function openPrivate(
  source: string | Uint8Array,
  copyFolder = TEMPORARY,
  oldest?: number,
): Promise<VerifiedDatabase> {
  return namingErrors(source, async () => {
    if (typeof source !== "string") return refuseOlder(await openBytes(source), oldest);
    await using file = await openFile(source);
    const { size } = await file.stat();
    if (size <= MAX_BYTES_IN_MEMORY) {
      return refuseOlder(await openBytes(await file.readFile()), oldest);
    }
    parseHeader(await readHeader(file), size);
    return refuseOlder(await openCopy(source, size, copyFolder), oldest);
  });
}

/** Opens the file itself, for a command. Throws a {@link SnapshotError} if that fails. */
export function openInPlace(path: string): Promise<VerifiedDatabase> {
  return namingErrors(path, async () => refuseOlder(await verifyAndOpen(path, false)));
}

export function snapshotError(source: string | Uint8Array, error: unknown): SnapshotError {
  const file = typeof source === "string" ? source : undefined;
  if (error instanceof SnapshotError) {
    return new SnapshotError(error.reason, file, error.isTransient);
  }
  const isTransient = /^(E[A-Z]+|SQLITE_(IOERR|NOMEM|CANTOPEN|BUSY).*)$/.test(codeOf(error));
  const isDamaged = !isTransient && codeOf(error).startsWith("SQLITE");
  const reason = `${isDamaged ? "is damaged" : "cannot be read"}: ${reasonOf(error)}`;
  return new SnapshotError(reason, file, isTransient);
}

/** Calls `open`. Converts any error to a {@link SnapshotError} that names the file. */
export async function namingErrors<T>(source: string | Uint8Array, open: () => Promise<T>) {
  try {
    return await open();
  } catch (error) {
    throw snapshotError(source, error);
  }
}

/** Opens an unlinked copy of the file, which the system deletes when the copy is closed. */
async function openCopy(path: string, bytes: number, copyFolder: string) {
  let temporary: ReturnType<typeof makeTemporaryFolder> | undefined;
  try {
    temporary = makeTemporaryFolder(copyFolder);
    const copy = join(temporary.folder, "copy");
    await copyIfSpace(path, copy, bytes);
    return await verifyAndOpen(copy, true);
  } catch (error) {
    if (error instanceof SnapshotError) throw error;
    const needed = `${Math.ceil(bytes / 1e6)} MB in ${copyFolder}`;
    const advice = "choose another folder with --cache-dir of serve";
    const reason = `cannot be copied (needs ${needed}): ${reasonOf(error)}; ${advice}`;
    throw new SnapshotError(reason, undefined, true);
  } finally {
    temporary?.remove();
  }
}

async function verifyAndOpen(path: string, isMapped: boolean): Promise<VerifiedDatabase> {
  await using file = await openFile(path);
  const { size } = await file.stat();
  parseHeader(await readHeader(file), size);
  const sha256 = await verifyChecksum(file, size);
  const db = sqlite.openImmutable(path, isMapped);
  return { db, sha256, close: () => db.$client.close() };
}

async function openBytes(bytes: Uint8Array): Promise<VerifiedDatabase> {
  const databaseBytes = parseHeader(bytes, bytes.length);
  const sha256 = await verifyChecksum(bytes, bytes.length);
  const db = sqlite.openBytes(bytes.subarray(0, databaseBytes));
  return { db, sha256, close: () => db.$client.close() };
}
