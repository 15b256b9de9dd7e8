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
export function checkSnapshot(path: string): Promise<Meta & { sha256: string }> {
  return namingErrors(path, async () => {
    const { db, sha256, close } = await verifyAndOpen(path, false);
    try {
      const [[result = ""] = []] = db.values<string[]>("PRAGMA integrity_check(1)");
      if (result === "ok") return { ...readMeta(db), sha256 };
      throw new SnapshotError(`is damaged: ${result.replaceAll("\n", " ")}`);
    } finally {
      close();
    }
  });
}

/** Checks only the checksum, and returns it. Throws a {@link SnapshotError} if it is wrong. */
export const verifyFile = (path: string): Promise<string> => namingErrors(path, () => verify(path));

async function verify(path: string): Promise<string> {
  await using file = await openFile(path);
  const { size } = await file.stat();
  parseHeader(await readHeader(file), size);
  return await verifyChecksum(file, size);
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
  const sha256 = await verify(path);
  const db = sqlite.openImmutable(path, isMapped);
  return { db, sha256, close: () => db.$client.close(true) };
}

export async function openBytes(bytes: Uint8Array): Promise<VerifiedDatabase> {
  const databaseBytes = parseHeader(bytes, bytes.length);
  const sha256 = await verifyChecksum(bytes, bytes.length);
  const db = sqlite.openBytes(bytes.subarray(0, databaseBytes));
  return { db, sha256, close: () => db.$client.close(true) };
}
