/**
 * Opens a snapshot: a file that is never written again, or the bytes of one. Every byte is held to
 * the checksum before anything is read; what is not a snapshot of this schema, or not as it was
 * written, is refused with a sentence for the operator.
 */
import type { FileHandle } from "node:fs/promises";
import { sqlite } from "#sqlite";
import { codeOf, reasonOf } from "../../files/errors.ts";
import {
  findIdentity,
  identityOf,
  NotAFileError,
  openFile,
  watchWrites,
} from "../../files/read.ts";
import type { Database } from "../../sqlite/driver.ts";
import { HEADER_BYTES, InvalidSnapshot, parseHeader, verifyChecksum } from "../format/file.ts";
import { readMeta } from "../format/meta.ts";
import { openSearch } from "./search.ts";
import { openUsers } from "./users.ts";

export type Snapshot = ReturnType<typeof readTables>;

export interface OpenOptions {
  /** Skips the checksum, and for bytes the comparison of the schema, which takes 3 ms of a start. */
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

/** The snapshot's file has been written to since it was opened: nothing that is read is certain. */
export class SpoiledSnapshot extends Error {
  override name = "SpoiledSnapshot";
  override message = "is being written over in place";
}

/** The tables of an open snapshot. */
export interface Tables {
  db: Database;
  /** Whether the file has been written to since it was opened, so that any read may be wrong. */
  isSpoiled(): boolean;
  close(): void;
}

/**
 * A smaller file is read into memory, where nobody can write over it. A larger one must only be
 * replaced, as every command here does: written over, it is spoiled.
 */
export const MAX_BYTES_IN_MEMORY = 8 * 2 ** 20;

/** A file that changes while it is read is read again, so often at most. */
const MAX_TRIES = 3;

/** Opens the snapshot at a path, or the one in `bytes`. Throws a {@link SnapshotError}. */
export async function openSnapshot(
  source: string | Uint8Array,
  options: OpenOptions = {},
): Promise<Snapshot> {
  const tables = await openTables(source, options);
  try {
    return readTables(tables);
  } catch (error) {
    tables.close();
    throw snapshotError(source, error);
  }
}

/** What responses come from. Every read throws a {@link SpoiledSnapshot} once the file is spoiled. */
export function readTables({ db, isSpoiled, close }: Tables) {
  let isKnownSpoiled = false;
  /** Once true, it stays so. */
  const findSpoiled = () => {
    isKnownSpoiled ||= isSpoiled();
    return isKnownSpoiled;
  };
  /** Looks after the read, as the file may be written to during it. */
  const guard =
    <Args extends unknown[], Result>(read: (...args: Args) => Result) =>
    (...args: Args): Result => {
      try {
        if (!isKnownSpoiled) {
          const result = read(...args);
          if (!findSpoiled()) return result;
        }
      } catch (error) {
        if (!findSpoiled()) throw error;
      }
      throw new SpoiledSnapshot();
    };
  const users = openUsers(db);
  const search = openSearch(db);
  return {
    meta: readMeta(db),
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
    isSpoiled: findSpoiled,
    close,
  };
}

/** The tables of a snapshot, for callers that read all of them. Throws a {@link SnapshotError}. */
export async function openTables(
  source: string | Uint8Array,
  options: OpenOptions = {},
): Promise<Tables> {
  try {
    const open =
      typeof source === "string" ? openPath(source, options) : openBytes(source, options);
    const tables = await open;
    try {
      // Loaded here, as the demo is opened without it.
      const isKnown = options.trust && typeof source !== "string";
      if (!isKnown) (await import("../format/schema.ts")).checkSchema(tables.db.$client);
      return tables;
    } catch (error) {
      tables.close();
      throw error;
    }
  } catch (error) {
    throw snapshotError(source, error);
  }
}

/** Gives whatever goes wrong with a snapshot the shape of a {@link SnapshotError}. */
export function snapshotError(source: string | Uint8Array, error: unknown): SnapshotError {
  if (error instanceof SnapshotError) return error;
  const name = typeof source === "string" ? source : "the snapshot";
  if (error instanceof SpoiledSnapshot) return new SnapshotError(name, error.message, true);
  if (error instanceof InvalidSnapshot || error instanceof NotAFileError) {
    return new SnapshotError(name, error.message);
  }
  const isPassing = /^(E[A-Z]+|SQLITE_(IOERR|NOMEM|CANTOPEN|BUSY).*)$/.test(codeOf(error));
  const isDamaged = !isPassing && codeOf(error).startsWith("SQLITE");
  const reason = `${isDamaged ? "is damaged" : "cannot be read"}: ${reasonOf(error)}`;
  return new SnapshotError(name, reason, isPassing);
}

/** What is verified is the very file that is opened, or it is verified once more. */
async function openPath(path: string, options: OpenOptions): Promise<Tables> {
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const file = await openFile(path);
    let isKept = false;
    try {
      const before = await file.stat({ bigint: true });
      const isWritten = watchWrites(file);
      const isSame = () => findIdentity(path) === identityOf(before);
      const size = Number(before.size);
      let db: Database;
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
      if (isSame()) {
        isKept = true;
        return watched(db, file, isWritten);
      }
      db.$client.close();
    } finally {
      if (!isKept) await file.close();
    }
  }
  throw new SnapshotError(path, "cannot be read: it changes all the time", true);
}

/** Keeps the file open beside SQLite, which does not say whether it has been written to. */
function watched(db: Database, file: FileHandle, isSpoiled: () => boolean): Tables {
  const close = () => {
    db.$client.close();
    file.close().catch(() => {});
  };
  return { db, isSpoiled, close };
}

async function openBytes(bytes: Uint8Array, options: OpenOptions): Promise<Tables> {
  const databaseBytes = parseHeader(bytes, bytes.length);
  if (!options.trust) await verifyChecksum(bytes, databaseBytes);
  const db = sqlite.openBytes(bytes.subarray(0, databaseBytes));
  return { db, isSpoiled: () => false, close: () => db.$client.close() };
}
