/**
 * Opens a snapshot: a file that is never written again, or the bytes of one. What is not a snapshot
 * of this schema is refused with a sentence for the operator.
 */
import { closeSync, openSync, readSync } from "node:fs";
import { sqlite as defaultDriver } from "#sqlite";
import { type Achievements, openAchievements } from "./achievements.ts";
import { type Meta, readMeta } from "./meta.ts";
import { openProfiles, type Profiles } from "./profiles.ts";
import { APPLICATION_ID, SCHEMA_VERSION } from "./schema.ts";
import { openSearch, type Search } from "./search.ts";
import type { Sqlite, SqliteDriver } from "./sqlite.ts";

export interface Snapshot {
  meta: Meta;
  profiles: Profiles;
  achievements: Achievements;
  search: Search;
  close(): void;
}

/** The file or bytes cannot be served; `message` says why in one line. */
export class SnapshotError extends Error {
  override name = "SnapshotError";
}

/** Opens the snapshot at a path, or the one in `bytes`. Throws a {@link SnapshotError}. */
export function openSnapshot(
  source: string | Uint8Array,
  driver: SqliteDriver = defaultDriver,
): Snapshot {
  const name = typeof source === "string" ? source : "the snapshot";
  checkHeader(
    typeof source === "string" ? readHeader(source) : source.subarray(0, HEADER_BYTES),
    name,
  );
  let db: Sqlite | undefined;
  try {
    db = typeof source === "string" ? driver.openImmutable(source) : driver.openBytes(source);
    return { ...openTables(db), close: db.close };
  } catch (error) {
    db?.close();
    throw new SnapshotError(`${name} is damaged: ${reasonOf(error)}`);
  }
}

function openTables(db: Sqlite) {
  return {
    meta: readMeta(db),
    profiles: openProfiles(db),
    achievements: openAchievements(db),
    search: openSearch(db),
  };
}

const HEADER_BYTES = 100;

function readHeader(path: string): Uint8Array {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    throw new SnapshotError(`cannot open ${path}: ${reasonOf(error)}`);
  }
  try {
    const header = new Uint8Array(HEADER_BYTES);
    return header.subarray(0, readSync(file, header));
  } catch (error) {
    throw new SnapshotError(`cannot read ${path}: ${reasonOf(error)}`);
  } finally {
    closeSync(file);
  }
}

/** SQLite's header, https://www.sqlite.org/fileformat.html: user version at 60, application id at 68. */
function checkHeader(header: Uint8Array, name: string): void {
  const magic = Buffer.from(header.subarray(0, 16)).toString("latin1");
  if (header.length === 0) throw new SnapshotError(`${name} is empty`);
  if (header.length < HEADER_BYTES || magic !== "SQLite format 3\0") {
    throw new SnapshotError(`${name} is not a Roadbook snapshot`);
  }
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  if (view.getUint32(68) !== APPLICATION_ID) {
    throw new SnapshotError(`${name} is a SQLite file, but not a Roadbook snapshot`);
  }
  const schemaVersion = view.getUint32(60);
  if (schemaVersion !== SCHEMA_VERSION) {
    const advice =
      schemaVersion > SCHEMA_VERSION ? "use a newer Roadbook" : "import the dataset again";
    throw new SnapshotError(
      `${name} has schema ${schemaVersion}, this Roadbook reads ${SCHEMA_VERSION}: ${advice}`,
    );
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
