/** Reads what a command must know about the snapshot that it replaces, after verifying its bytes. */
import { existsSync } from "node:fs";
import type { Database } from "../../sqlite/driver.ts";
import { isSnapshot, PREVIOUS_SCHEMA } from "../format/layout.ts";
import { readMeta } from "../format/meta.ts";
import { openInPlace } from "../format/open.ts";
import { namingErrors, SnapshotError } from "../format/snapshot-error.ts";
import type { Dated } from "./build-time.ts";
import type { Summary } from "./summary.ts";
import { type HoldOptions, listTakedowns, type Takedown } from "./takedowns.ts";

/** The snapshot that will be replaced. */
export interface OldSnapshot extends Summary {
  /** The path as the command was given it, for messages. */
  name: string;
  /** The file to compare a new snapshot with; undefined for a snapshot in memory. */
  path?: string;
  /** The mark of the id map with which the snapshot was made, if any. */
  mark: string | undefined;
  isOfOlderRelease: boolean;
  /** The takedowns that an import holds; none for `apply` and `hide`. */
  takedowns: Takedown[];
}

export interface OverwriteOptions extends HoldOptions {
  /**
   * Whether to overwrite a file that is not an intact snapshot, or a snapshot whose ids belong to
   * others.
   */
  force?: boolean | undefined;
}

/** The names of a snapshot that has not been read yet. */
type Names = Pick<OldSnapshot, "name" | "path">;

/** `what` is the kind of file that the command writes, such as "a Roadbook snapshot". */
export function notOverwritten(target: string, what: string): string {
  return `${target} exists and is not ${what}; choose another --to, or overwrite it with --force`;
}

/**
 * Reads the snapshot at `path`, if there is one. Throws if the file is something else or is damaged,
 * because an import could then undo takedowns. With `force`, such a file is treated as missing.
 */
export async function readOldSnapshot(
  path: string,
  name: string,
  options: Dated<OverwriteOptions>,
): Promise<OldSnapshot | undefined> {
  if (!existsSync(path)) return undefined;
  if (!(await isSnapshot(path))) {
    if (options.force) return undefined;
    throw new Error(notOverwritten(name, "a Roadbook snapshot"));
  }

  try {
    return await verifyOldSnapshot(path, { name, path }, PREVIOUS_SCHEMA, options);
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error;
    if (options.force) return undefined;
    const advice = "restore it, or import with --force, which forgets its takedowns";
    throw new Error(`${error.message}; ${advice}`);
  }
}

/**
 * Verifies the bytes of `file`, which is the snapshot itself or a copy, and reads it. Refuses schemas
 * before `oldest`, by default those before the current one.
 */
export function verifyOldSnapshot(
  file: string,
  names: Names,
  oldest?: number,
  hold?: Dated<HoldOptions>,
): Promise<OldSnapshot> {
  return namingErrors(names.name, async () => {
    const { db } = await openInPlace(file, { oldest });
    try {
      return describeOldSnapshot(db, names, hold);
    } finally {
      db.$client.close();
    }
  });
}

/** Reads a snapshot whose bytes have been verified. Lists the takedowns that `hold` asks for. */
export function describeOldSnapshot(
  db: Database,
  names: Names,
  hold?: Dated<HoldOptions>,
): OldSnapshot {
  const { counts, unlocked, featured, id_map: mark } = readMeta(db);
  const isOfOlderRelease = readSchema(db) === PREVIOUS_SCHEMA;
  const takedowns = hold && !isOfOlderRelease ? listTakedowns(db, hold) : [];
  return { ...names, counts, unlocked, featured, mark, isOfOlderRelease, takedowns };
}

function readSchema(db: Database): number | undefined {
  const [row] = db.values<[schema: number]>("PRAGMA user_version");
  return row?.[0];
}
