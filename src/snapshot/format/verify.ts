/** Opens a snapshot after verifying every byte, and finds why one cannot be opened. */
import { sqlite } from "#sqlite";
import { codeOf, reasonOf } from "../../files/errors.ts";
import { openFile } from "../../files/read.ts";
import type { Database } from "../../sqlite/driver.ts";
import { parseHeader, readHeader, SCHEMA_VERSION, SnapshotError, verifyChecksum } from "./file.ts";
import { type Meta, readMeta } from "./meta.ts";

/** The schema of the release before this one, 0.1.0, which `import` reads. */
export const PREVIOUS_SCHEMA = 6;

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

/** Checks only the checksum, which it returns, and the schema. Throws a {@link SnapshotError}. */
export function verifyFile(path: string): Promise<string> {
  return namingErrors(path, async () => {
    const { sha256, close } = await verifyAndOpen(path, false);
    close();
    return sha256;
  });
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

export async function verifyAndOpen(path: string, isMapped: boolean, oldest?: number) {
  await using file = await openFile(path);
  const { size } = await file.stat();
  parseHeader(await readHeader(file), size);
  const sha256 = await verifyChecksum(file, size);
  return refuseOlder(sqlite.openImmutable(path, isMapped), sha256, oldest);
}

export async function openBytes(bytes: Uint8Array, oldest?: number) {
  const databaseBytes = parseHeader(bytes, bytes.length);
  const sha256 = await verifyChecksum(bytes, bytes.length);
  return refuseOlder(sqlite.openBytes(bytes.subarray(0, databaseBytes)), sha256, oldest);
}

const SELECT_ORIGIN = `SELECT user_version, value
  FROM pragma_user_version LEFT JOIN meta ON key = 'roadbook_version'`;

/** Closes a snapshot with an older schema, and throws an error that says how to convert it. */
function refuseOlder(db: Database, sha256: string, oldest = SCHEMA_VERSION): VerifiedDatabase {
  const close = () => db.$client.close(true);
  const [[schema = 0, writer] = []] = db.values<[number, string]>(SELECT_ORIGIN);
  if (schema >= oldest) return { db, sha256, close };
  close();
  const advice =
    schema < PREVIOUS_SCHEMA
      ? `export it with version ${writer}, and import the dataset`
      : "run roadbook import SNAPSHOT --to NEW, where both may be the same file";
  throw new SnapshotError(`was written by version ${writer} (schema ${schema}); ${advice}`);
}
