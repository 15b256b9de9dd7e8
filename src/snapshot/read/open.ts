/**
 * Opens a snapshot from a file or from bytes, and never writes to it. Every byte is verified before
 * the first query. If the file is damaged or not a snapshot, the operator gets a
 * one-line error.
 */
import type { FileHandle } from "node:fs/promises";
import { sqlite } from "#sqlite";
import { codeOf, reasonOf } from "../../files/errors.ts";
import { findIdentity, identityOf, openFile, watchWrites } from "../../files/read.ts";
import type { Database } from "../../sqlite/driver.ts";
import { HEADER_BYTES, parseHeader, SnapshotError, verifyChecksum } from "../format/file.ts";
import { readMeta } from "../format/meta.ts";
import { openSearch } from "./search.ts";
import { openUsers } from "./users.ts";

export type Snapshot = ReturnType<typeof snapshotOf>;

/** Thrown if a file was written to after it was opened, so nothing read from it can be trusted. */
export class SpoiledSnapshot extends Error {
  override name = "SpoiledSnapshot";
  override message = "is being overwritten in place (replace it with mv, never cp)";
}

/** The tables of an open snapshot. */
export interface Tables {
  db: Database;
  /** The checksum of the file, in hexadecimal. */
  sha256: string;
  /** Whether the file has been written to since it was opened. */
  isSpoiled(): boolean;
  close(): void;
}

/**
 * A file of up to this size is read into memory, where nothing can overwrite it. A larger file is
 * read as needed, so it must be replaced rather than overwritten in place. Roadbook's own commands
 * always replace the file.
 */
export const MAX_BYTES_IN_MEMORY = 8 * 2 ** 20;

/** The maximum number of attempts to open a file that changes while it is being opened. */
const MAX_TRIES = 3;

/** Opens a snapshot from its path or its bytes. Throws a {@link SnapshotError} if that fails. */
export async function openSnapshot(source: string | Uint8Array): Promise<Snapshot> {
  const tables = await openTables(source);
  try {
    return snapshotOf(tables);
  } catch (error) {
    tables.close();
    throw snapshotError(source, error);
  }
}

/**
 * Returns the queries for the server's routes. Once the file has been overwritten in place, each
 * query throws a {@link SpoiledSnapshot}.
 */
export function snapshotOf({ db, sha256, isSpoiled, close }: Tables) {
  let isKnownSpoiled = false;
  /** After returning true once, this function always returns true. */
  const checkSpoiled = () => {
    isKnownSpoiled ||= isSpoiled();
    return isKnownSpoiled;
  };
  /** Runs the check after the read, because the file may be written to during the read. */
  const guard =
    <Args extends unknown[], Result>(read: (...args: Args) => Result) =>
    (...args: Args): Result => {
      try {
        if (!isKnownSpoiled) {
          const result = read(...args);
          if (!checkSpoiled()) return result;
        }
      } catch (error) {
        if (!checkSpoiled()) throw error;
      }
      throw new SpoiledSnapshot();
    };
  const users = openUsers(db);
  const search = openSearch(db);
  return {
    meta: readMeta(db),
    /** The checksum of the file, in hexadecimal. */
    sha256,
    users: {
      findProfile: guard(users.findProfile),
      findName: guard(users.findName),
      findAchievements: guard(users.findAchievements),
      listPages: guard(users.listPages),
      listIds: guard(users.listIds),
      findAchievementByIcon: guard(users.findAchievementByIcon),
    },
    search: {
      listCompanies: guard(search.listCompanies),
      listUsers: guard(search.listUsers),
    },
    isSpoiled: checkSpoiled,
    close,
  };
}

/** Opens a snapshot for reading whole tables. Throws a {@link SnapshotError} if that fails. */
export async function openTables(source: string | Uint8Array): Promise<Tables> {
  try {
    return await (typeof source === "string" ? openPath(source) : openBytes(source));
  } catch (error) {
    throw snapshotError(source, error);
  }
}

/** Converts any error from reading a snapshot to a {@link SnapshotError} that names the file. */
export function snapshotError(source: string | Uint8Array, error: unknown): SnapshotError {
  const file = typeof source === "string" ? source : undefined;
  if (error instanceof SpoiledSnapshot) return new SnapshotError(error.message, file, true);
  if (error instanceof SnapshotError)
    return new SnapshotError(error.reason, file, error.isTransient);
  const isTransient = /^(E[A-Z]+|SQLITE_(IOERR|NOMEM|CANTOPEN|BUSY).*)$/.test(codeOf(error));
  const isDamaged = !isTransient && codeOf(error).startsWith("SQLITE");
  const reason = `${isDamaged ? "is damaged" : "cannot be read"}: ${reasonOf(error)}`;
  return new SnapshotError(reason, file, isTransient);
}

/**
 * Verifies and opens the file at `path`. If the file is replaced in the meantime, starts again with
 * the new file, so that SQLite always opens the file that was verified.
 */
async function openPath(path: string): Promise<Tables> {
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const file = await openFile(path);
    let isKept = false;
    try {
      const before = await file.stat({ bigint: true });
      const isWritten = watchWrites(file);
      const isSame = () => findIdentity(path) === identityOf(before);
      const size = Number(before.size);
      let db: Database;
      let sha256: string;
      try {
        if (size <= MAX_BYTES_IN_MEMORY) {
          return await openBytes(await file.readFile());
        }
        const { buffer } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
        const databaseBytes = parseHeader(buffer, size);
        sha256 = await verifyChecksum(file, databaseBytes);
        db = sqlite.openImmutable(path);
      } catch (error) {
        if (isSame()) throw error;
        continue;
      }
      if (isSame()) {
        isKept = true;
        return watchedTables(db, sha256, file, isWritten);
      }
      db.$client.close();
    } finally {
      if (!isKept) await file.close();
    }
  }
  throw new SnapshotError("cannot be read: it keeps changing", path, true);
}

/** Keeps a second file handle open, because SQLite does not report writes by other programs. */
function watchedTables(
  db: Database,
  sha256: string,
  file: FileHandle,
  isSpoiled: () => boolean,
): Tables {
  const close = () => {
    db.$client.close();
    file.close().catch(() => {});
  };
  return { db, sha256, isSpoiled, close };
}

async function openBytes(bytes: Uint8Array): Promise<Tables> {
  const databaseBytes = parseHeader(bytes, bytes.length);
  const sha256 = await verifyChecksum(bytes, databaseBytes);
  const db = sqlite.openBytes(bytes.subarray(0, databaseBytes));
  return { db, sha256, isSpoiled: () => false, close: () => db.$client.close() };
}
