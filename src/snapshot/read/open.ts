/**
 * Opens a snapshot from a file or from bytes, after verifying every byte. A server reads a private
 * copy, so nothing that happens to the file afterwards reaches a response.
 */
import { join } from "node:path";
import { reasonOf } from "../../files/errors.ts";
import { openFile } from "../../files/read.ts";
import { copyIfSpace, makeTemporaryFolder, TEMPORARY } from "../../files/temporary-folder.ts";
import { parseHeader, readHeader, SnapshotError } from "../format/file.ts";
import { readMeta } from "../format/meta.ts";
import {
  namingErrors,
  openBytes,
  snapshotError,
  type VerifiedDatabase,
  verifyAndOpen,
} from "../format/verify.ts";
import { openCompanies } from "./companies.ts";
import { openProfiles } from "./profiles.ts";
import { openResults } from "./results.ts";

export type Snapshot = Awaited<ReturnType<typeof openSnapshot>>;

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
  const parts = { users: openProfiles(db), companies: openCompanies(db), search: openResults(db) };
  return { meta: readMeta(db), sha256, ...parts, close };
}

export function openPrivate(
  source: string | Uint8Array,
  copyFolder = TEMPORARY,
  oldest?: number,
): Promise<VerifiedDatabase> {
  return namingErrors(source, async () => {
    if (typeof source !== "string") return openBytes(source, oldest);
    await using file = await openFile(source);
    const { size } = await file.stat();
    if (size <= MAX_BYTES_IN_MEMORY) return await openBytes(await file.readFile(), oldest);
    parseHeader(await readHeader(file), size);
    return await openCopy(source, size, copyFolder, oldest);
  });
}

/** Opens an unlinked copy of the file, which the system deletes when the copy is closed. */
async function openCopy(path: string, bytes: number, copyFolder: string, oldest?: number) {
  let temporary: ReturnType<typeof makeTemporaryFolder> | undefined;
  try {
    temporary = makeTemporaryFolder(copyFolder);
    const copy = join(temporary.folder, "copy");
    await copyIfSpace(path, copy, bytes);
    return await verifyAndOpen(copy, true, oldest);
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
