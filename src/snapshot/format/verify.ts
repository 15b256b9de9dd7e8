/** Opens a snapshot after verifying every byte, and finds why one cannot be opened. */
import { sqlite } from "#sqlite";
import { codeOf, reasonOf } from "../../files/errors.ts";
import { openFile } from "../../files/read.ts";
import type { Database } from "../../sqlite/driver.ts";
import { parseHeader, readHeader, SnapshotError, verifyChecksum } from "./file.ts";
import { type Meta, readMeta } from "./meta.ts";

export interface VerifiedDatabase {
  db: Database;
  sha256: string;
  close(): void;
}

/**
 * Checks the whole file and returns its metadata. Throws a `SnapshotError` if the check fails. The
 * checksum detects any change since the file was written. SQLite's own checks detect bugs in how
 * the file was written.
 */
export async function checkSnapshot(path: string): Promise<Meta> {
  const { db, close } = await openInPlace(path);
  try {
    const [[result = ""] = []] = db.values<string[]>("PRAGMA integrity_check(1)");
    if (result !== "ok") throw new SnapshotError(`is damaged: ${result.replaceAll("\n", " ")}`);
    return readMeta(db);
  } catch (error) {
    throw snapshotError(path, error);
  } finally {
    close();
  }
}

/** Opens the file itself, for a command. Throws a {@link SnapshotError} if that fails. */
export function openInPlace(path: string): Promise<VerifiedDatabase> {
  return namingErrors(path, () => verifyAndOpen(path, false));
}

/** Calls `open`. Converts any error to a {@link SnapshotError} that names the file. */
export async function namingErrors<T>(source: string | Uint8Array, open: () => Promise<T>) {
  try {
    return await open();
  } catch (error) {
    throw snapshotError(source, error);
  }
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

export async function verifyAndOpen(path: string, isMapped: boolean): Promise<VerifiedDatabase> {
  await using file = await openFile(path);
  const databaseBytes = parseHeader(await readHeader(file), (await file.stat()).size);
  const sha256 = await verifyChecksum(file, databaseBytes);
  const db = sqlite.openImmutable(path, isMapped);
  return { db, sha256, close: () => db.$client.close(true) };
}

export async function openBytes(bytes: Uint8Array): Promise<VerifiedDatabase> {
  const databaseBytes = parseHeader(bytes, bytes.length);
  const sha256 = await verifyChecksum(bytes, databaseBytes);
  const db = sqlite.openBytes(bytes.subarray(0, databaseBytes));
  return { db, sha256, close: () => db.$client.close(true) };
}
