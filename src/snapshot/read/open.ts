/**
 * Opens a snapshot from a file or from bytes, and never writes to it. Verifies every byte before
 * anything is read, and rejects a damaged or foreign file with one line for the operator.
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

export type Snapshot = ReturnType<typeof snapshotOf>;

export interface OpenOptions {
  /** Starts faster by skipping the checksum and, for bytes, the schema check. */
  trust?: boolean;
}

/** A snapshot that cannot be read. The message is one line that names the file. */
export class SnapshotError extends Error {
  override name = "SnapshotError";
  /** The message without the name of the file: "is empty". */
  readonly reason: string;
  /** The system caused it, not the file, so another try may succeed. */
  readonly isTransient: boolean;

  constructor(file: string, reason: string, isTransient = false) {
    super(`${file} ${reason}`);
    this.reason = reason;
    this.isTransient = isTransient;
  }
}

/** The file has been written to since it was opened, so nothing read from it can be trusted. */
export class SpoiledSnapshot extends Error {
  override name = "SpoiledSnapshot";
  override message = "is being overwritten in place (replace it with mv, never cp)";
}

/** The tables of an open snapshot. */
export interface Tables {
  db: Database;
  /** Whether the file has been written to since it was opened. */
  isSpoiled(): boolean;
  close(): void;
}

/**
 * Up to this size a file is read into memory, where nothing can overwrite it. A larger file is read
 * as needed. It must be replaced, as every command does: overwriting it in place spoils it.
 */
export const MAX_BYTES_IN_MEMORY = 8 * 2 ** 20;

/** A file that changes while it is being opened is opened again, up to this many times. */
const MAX_TRIES = 3;

/** Opens the snapshot at a path, or the one in `bytes`. Throws a {@link SnapshotError}. */
export async function openSnapshot(
  source: string | Uint8Array,
  options: OpenOptions = {},
): Promise<Snapshot> {
  const tables = await openTables(source, options);
  try {
    return snapshotOf(tables);
  } catch (error) {
    tables.close();
    throw snapshotError(source, error);
  }
}

/** The queries that routes use. Each throws a {@link SpoiledSnapshot} once the file is spoiled. */
export function snapshotOf({ db, isSpoiled, close }: Tables) {
  let isKnownSpoiled = false;
  /** Once true, always true. */
  const checkSpoiled = () => {
    isKnownSpoiled ||= isSpoiled();
    return isKnownSpoiled;
  };
  /** Checks after the read, because the file may be written to during it. */
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

/** Opens the tables, for callers that read whole tables. Throws a {@link SnapshotError}. */
export async function openTables(
  source: string | Uint8Array,
  options: OpenOptions = {},
): Promise<Tables> {
  try {
    const open =
      typeof source === "string" ? openPath(source, options) : openBytes(source, options);
    const tables = await open;
    try {
      // Imported only here, because the demo starts faster without it.
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

/** Turns any error about a snapshot into a {@link SnapshotError}. */
export function snapshotError(source: string | Uint8Array, error: unknown): SnapshotError {
  if (error instanceof SnapshotError) return error;
  const name = typeof source === "string" ? source : "the snapshot";
  if (error instanceof SpoiledSnapshot) return new SnapshotError(name, error.message, true);
  if (error instanceof InvalidSnapshot || error instanceof NotAFileError) {
    return new SnapshotError(name, error.message);
  }
  const isTransient = /^(E[A-Z]+|SQLITE_(IOERR|NOMEM|CANTOPEN|BUSY).*)$/.test(codeOf(error));
  const isDamaged = !isTransient && codeOf(error).startsWith("SQLITE");
  const reason = `${isDamaged ? "is damaged" : "cannot be read"}: ${reasonOf(error)}`;
  return new SnapshotError(name, reason, isTransient);
}

/** Makes sure that SQLite opens the file that was verified. Starts again if it was replaced. */
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
        return watchedTables(db, file, isWritten);
      }
      db.$client.close();
    } finally {
      if (!isKept) await file.close();
    }
  }
  throw new SnapshotError(path, "cannot be read: it keeps changing", true);
}

/** Keeps a second handle on the file, because SQLite does not report writes by other programs. */
function watchedTables(db: Database, file: FileHandle, isSpoiled: () => boolean): Tables {
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
