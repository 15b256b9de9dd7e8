/** Opens snapshots after verifying every byte, in place or as a private copy. */
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { sqlite } from "#sqlite";
import { copyIfSpace, openFile } from "../../files/bytes.ts";
import { isFileSystemError, reasonOf } from "../../files/errors.ts";
import { makeTemporaryFolder, TEMPORARY } from "../../files/lock.ts";
import type { Database } from "../../sqlite/driver.ts";
import {
  publicReasonOf,
  readLayout,
  SCHEMA_VERSION,
  SnapshotError,
  toSnapshotError,
  verifyChecksum,
} from "./layout.ts";
import { type Meta, readMeta } from "./meta.ts";

/** A snapshot of up to this size is read into memory. A larger one is copied and mapped. */
export const MAX_BYTES_IN_MEMORY = 8_000_000;

export type VerifiedDatabase = { db: Database; sha256: string } & Disposable;

/** Checks only the checksum, which it returns, and the schema. Rethrows errors of the system. */
export async function verifyFile(path: string): Promise<string> {
  using opened = await openInPlace(path);
  return opened.sha256;
}

/** Checks every byte, and runs SQLite's own checks, which detect bugs in how it was written. */
export async function checkSnapshot(path: string): Promise<Meta & { sha256: string }> {
  try {
    using opened = await openInPlace(path);
    const { db, sha256 } = opened;
    const [row] = db.values<[result: string]>("PRAGMA integrity_check(1)");
    const result = row?.[0] ?? "";
    if (result === "ok") return { ...readMeta(db), sha256 };
    throw new SnapshotError(`is damaged: ${result.replaceAll("\n", " ")}`);
  } catch (error) {
    throw toSnapshotError(path, error);
  }
}

/** Opens the file itself, which must not change while it is open. */
export async function openInPlace(path: string, isMapped = false): Promise<VerifiedDatabase> {
  await using file = await openFile(path);
  return await openVerified(file, () => {
    const db = sqlite.openImmutable(path);
    // SQLite maps at most 2 GB. Reading a random user is faster with a map.
    db.$client.exec(`PRAGMA cache_size = -32768; PRAGMA mmap_size = ${isMapped ? 2 ** 31 : 0}`);
    return db;
  });
}

async function openVerified(
  source: FileHandle | Uint8Array,
  open: (databaseBytes: number) => Database,
): Promise<VerifiedDatabase> {
  const { schema, databaseBytes, fileBytes } = await readLayout(source);
  const sha256 = await verifyChecksum(source, fileBytes);
  const db = open(databaseBytes);
  const verified = { db, sha256, [Symbol.dispose]: () => db.$client.close() };
  if (schema === SCHEMA_VERSION) return verified;

  using _older = verified;
  const [row] = db.values<[string]>("SELECT value FROM meta WHERE key = 'roadbook_version'");
  const origin = `was written by version ${row?.[0]} (schema ${schema})`;
  throw new SnapshotError(`${origin}; export it with that version, and import the dataset`);
}

/** Where and how a large file is copied. */
interface CopyOptions {
  copyFolder?: string | undefined;
  /** Advice for the operator if no copy can be made there. */
  advice?: string;
}

/** Opens bytes, or a copy of a file. Nothing that happens to the file afterwards reaches the copy. */
export async function openPrivate(
  source: string | Uint8Array,
  options: CopyOptions = {},
): Promise<VerifiedDatabase> {
  try {
    if (typeof source !== "string") return await openBytes(source);

    await using file = await openFile(source);
    const { size } = await file.stat();
    if (size <= MAX_BYTES_IN_MEMORY) return await openBytes(await file.readFile());
    await readLayout(file);
    return await openCopy(source, size, options);
  } catch (error) {
    throw toSnapshotError(source, error);
  }
}

const openBytes = (bytes: Uint8Array) =>
  openVerified(bytes, (databaseBytes) => sqlite.openBytes(bytes.subarray(0, databaseBytes)));

/** Opens an unlinked copy of the file, which the system deletes when the copy is closed. */
async function openCopy(
  path: string,
  bytes: number,
  { copyFolder = TEMPORARY, advice }: CopyOptions,
): Promise<VerifiedDatabase> {
  try {
    using temporary = await makeTemporaryFolder(copyFolder);
    const copy = join(temporary.folder, "copy");
    await copyIfSpace(path, copy, bytes);
    return await openInPlace(copy, true);
  } catch (error) {
    if (!isFileSystemError(error)) throw error;
    const problem = `cannot be copied (needs ${Math.ceil(bytes / 1e6)} MB in`;
    const detail = `${problem} ${copyFolder}): ${reasonOf(error)}`;
    throw new SnapshotError(
      `${problem} the cache)${publicReasonOf(error)}`,
      advice === undefined ? detail : `${detail}; ${advice}`,
    );
  }
}
