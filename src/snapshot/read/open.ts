/**
 * Opens a snapshot: a file that is never written again, or the bytes of one. Every byte is held to
 * the checksum before anything is read; what is not a snapshot of this schema, or not as it was
 * written, is refused with a sentence for the operator.
 */
import { sqlite } from "#sqlite";
import { codeOf, reasonOf } from "../../files/errors.ts";
import { findIdentity, identityOf, NotAFileError, openFile } from "../../files/read.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import { HEADER_BYTES, InvalidSnapshot, parseHeader, verifyChecksum } from "../format/file.ts";
import { readMeta } from "../format/meta.ts";
import { openSearch } from "./search.ts";
import { openUsers } from "./users.ts";

export type Snapshot = ReturnType<typeof readTables>;

export interface OpenOptions {
  /** Does without the checksum; the header and the size must be right all the same. */
  trust?: boolean;
}

/** The file or bytes cannot be served; `message` says why in one line that names the file. */
export class SnapshotError extends Error {
  override name = "SnapshotError";
  /** Goes on where the name of the file ends. */
  readonly reason: string;
  /** The system is the cause, and not the file: it may be read a moment later. */
  readonly isPassing: boolean;

  constructor(file: string, reason: string, isPassing = false) {
    super(`${file} ${reason}`);
    this.reason = reason;
    this.isPassing = isPassing;
  }
}

/**
 * A smaller file is read into memory, where nobody can write over it. A larger one must only be
 * replaced, as every command here does: written over, it gives errors until it is whole again.
 */
export const MAX_BYTES_IN_MEMORY = 8 * 2 ** 20;

/** A file that changes while it is read is read again, so often at most. */
const MAX_TRIES = 3;

/** Opens the snapshot at a path, or the one in `bytes`. Throws a {@link SnapshotError}. */
export async function openSnapshot(
  source: string | Uint8Array,
  options: OpenOptions = {},
): Promise<Snapshot> {
  const db = await openTables(source, options);
  try {
    return readTables(db);
  } catch (error) {
    db.close();
    throw snapshotError(source, error);
  }
}

/** What responses come from. */
export function readTables(db: Sqlite) {
  return {
    meta: readMeta(db),
    users: openUsers(db),
    search: openSearch(db),
    close: () => db.close(),
  };
}

/** The tables of a snapshot, for who reads all of them. Throws a {@link SnapshotError}. */
export async function openTables(
  source: string | Uint8Array,
  options: OpenOptions = {},
): Promise<Sqlite> {
  try {
    return await (typeof source === "string"
      ? openPath(source, options)
      : openBytes(source, options));
  } catch (error) {
    throw snapshotError(source, error);
  }
}

/** Gives whatever goes wrong with a snapshot the shape of a {@link SnapshotError}. */
export function snapshotError(source: string | Uint8Array, error: unknown): SnapshotError {
  if (error instanceof SnapshotError) return error;
  const name = typeof source === "string" ? source : "the snapshot";
  if (error instanceof InvalidSnapshot || error instanceof NotAFileError) {
    return new SnapshotError(name, error.message);
  }
  const isPassing = /^(E[A-Z]+|SQLITE_(IOERR|NOMEM|CANTOPEN|BUSY).*)$/.test(codeOf(error));
  const isDamaged = !isPassing && codeOf(error).startsWith("SQLITE");
  const reason = `${isDamaged ? "is damaged" : "cannot be read"}: ${reasonOf(error)}`;
  return new SnapshotError(name, reason, isPassing);
}

/** What is verified is the very file that is opened, or it is verified once more. */
async function openPath(path: string, options: OpenOptions): Promise<Sqlite> {
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const file = await openFile(path);
    try {
      const before = await file.stat({ bigint: true });
      const isSame = () => findIdentity(path) === identityOf(before);
      const size = Number(before.size);
      let db: Sqlite;
      try {
        if (size <= MAX_BYTES_IN_MEMORY) {
          return await openBytes(await file.readFile(), options);
        }
        const { buffer } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
        const databaseBytes = parseHeader(buffer, size);
        if (!options.trust) await verifyChecksum(file, databaseBytes);
        db = sqlite.openImmutable(path);
      } catch (error) {
        if (isSame()) throw error;
        continue;
      }
      if (isSame()) return db;
      db.close();
    } finally {
      await file.close();
    }
  }
  throw new SnapshotError(path, "cannot be read: it changes all the time", true);
}

async function openBytes(bytes: Uint8Array, options: OpenOptions): Promise<Sqlite> {
  const databaseBytes = parseHeader(bytes, bytes.length);
  if (!options.trust) await verifyChecksum(bytes, databaseBytes);
  return sqlite.openBytes(bytes.subarray(0, databaseBytes));
}
