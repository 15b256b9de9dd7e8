/**
 * Opens a snapshot: a file that is never written again, or the bytes of one. What is not a snapshot
 * of this schema, or not all of one, is refused with a sentence for the operator.
 */
import { closeSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { sqlite as defaultDriver } from "#sqlite";
import { codeOf, reasonOf } from "../../files/errors.ts";
import type { Sqlite, SqliteDriver } from "../../sqlite/driver.ts";
import { type Meta, readMeta } from "../format/meta.ts";
import { HEADER_BYTES, parseHeader } from "../format/pages.ts";
import { APPLICATION_ID, SCHEMA_VERSION } from "../format/schema.ts";
import { type Achievements, openAchievements } from "./achievements.ts";
import { openSearch, type Search } from "./search.ts";
import { openProfiles, type Profiles } from "./users.ts";

export interface Snapshot {
  meta: Meta;
  profiles: Profiles;
  achievements: Achievements;
  search: Search;
  close(): void;
}

/** The file or bytes cannot be served; `message` says why in one line that names the file. */
export class SnapshotError extends Error {
  override name = "SnapshotError";
  /** Goes on where the name of the file ends. */
  readonly reason: string;

  constructor(file: string, reason: string) {
    super(`${file} ${reason}`);
    this.reason = reason;
  }
}

/**
 * A smaller file is read into memory, where nobody can write over it. A larger one must only be
 * replaced, as every command here does: written over, it gives errors until it is whole again.
 */
const MAX_BYTES_IN_MEMORY = 8 * 2 ** 20;

/** Opens the snapshot at a path, or the one in `bytes`. Throws a {@link SnapshotError}. */
export function openSnapshot(
  source: string | Uint8Array,
  driver: SqliteDriver = defaultDriver,
): Snapshot {
  const name = typeof source === "string" ? source : "the snapshot";
  return told(name, () => {
    const db = typeof source === "string" ? openFile(source, driver) : openBytes(source, driver);
    try {
      return {
        meta: readMeta(db),
        profiles: openProfiles(db),
        achievements: openAchievements(db),
        search: openSearch(db),
        close: db.close,
      };
    } catch (error) {
      db.close();
      throw error;
    }
  });
}

/** The tables of the snapshot at a path, for who reads all of it. Throws a {@link SnapshotError}. */
export function openSnapshotTables(path: string): Sqlite {
  return told(path, () => {
    checkFile(path);
    return defaultDriver.openImmutable(path);
  });
}

/** Gives whatever goes wrong with a snapshot file the shape of a {@link SnapshotError}. */
export function told<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof Refusal) throw new SnapshotError(name, error.message);
    const verb = codeOf(error).startsWith("SQLITE") ? "is damaged" : "cannot be read";
    throw new SnapshotError(name, `${verb}: ${reasonOf(error)}`);
  }
}

/** Why something is not a snapshot to read; `message` goes on where its name ends. */
export class Refusal extends Error {}

function openFile(path: string, driver: SqliteDriver): Sqlite {
  const size = checkFile(path);
  return size > MAX_BYTES_IN_MEMORY
    ? driver.openImmutable(path)
    : openBytes(readFileSync(path), driver);
}

function openBytes(bytes: Uint8Array, driver: SqliteDriver): Sqlite {
  checkHeader(bytes, bytes.length);
  return driver.openBytes(bytes);
}

/** Returns the size of the file in bytes. */
function checkFile(path: string): number {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const header = new Uint8Array(HEADER_BYTES);
    checkHeader(header.subarray(0, readSync(file, header)), size);
    return size;
  } finally {
    closeSync(file);
  }
}

function checkHeader(bytes: Uint8Array, size: number): void {
  if (size === 0) throw new Refusal("is empty");
  const header = parseHeader(bytes);
  if (!header) throw new Refusal("is not a Roadbook snapshot");
  const { applicationId, userVersion, pageCount, pageSize } = header;
  if (applicationId !== APPLICATION_ID) {
    throw new Refusal("is a SQLite file, but not a Roadbook snapshot");
  }
  if (userVersion !== SCHEMA_VERSION) {
    const advice =
      userVersion > SCHEMA_VERSION ? "use a newer Roadbook" : "import the dataset again";
    throw new Refusal(
      `has schema ${userVersion}, this Roadbook reads ${SCHEMA_VERSION}: ${advice}`,
    );
  }
  if (size !== pageCount * pageSize) {
    throw new Refusal(`has ${size} bytes, not the ${pageCount * pageSize} it was written with`);
  }
}
