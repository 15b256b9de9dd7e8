/** Reads what a command must know about the snapshot that it replaces, after verifying its bytes. */
import { existsSync } from "node:fs";
import { isSnapshot } from "../snapshot/format/layout.ts";
import { readMeta } from "../snapshot/format/meta.ts";
import { openInPlace } from "../snapshot/format/open.ts";
import { namingSnapshot, SnapshotError } from "../snapshot/format/snapshot-error.ts";
import type { Database } from "../sqlite/driver.ts";
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
  /** The takedowns that an import holds. */
  takedowns: Takedown[];
}

export interface OverwriteOptions {
  /**
   * Whether to overwrite a file that is not an intact snapshot, or a snapshot whose ids belong to
   * others.
   */
  force?: boolean | undefined;
}

/** The names of a snapshot that has not been read yet. */
type Names = Pick<OldSnapshot, "name" | "path">;
export type FileNames = Required<Names>;

/** `what` is the kind of file that the command writes, such as "a Roadbook snapshot". */
export function notOverwritten(target: string, what: string): string {
  return `${target} exists and is not ${what}; choose another --to, or overwrite it with --force`;
}

/**
 * Reads the old snapshot, if there is one. Throws if the file is something else or is damaged,
 * because an import could then undo takedowns. With `force`, such a file is treated as missing.
 */
export async function readOldSnapshot(
  { name, path }: FileNames,
  nowMs: number,
  options: OverwriteOptions & HoldOptions,
): Promise<OldSnapshot | undefined> {
  if (!existsSync(path)) return undefined;
  if (!isSnapshot(path)) {
    if (options.force) return undefined;
    throw new Error(notOverwritten(name, "a Roadbook snapshot"));
  }

  try {
    return await openVerified(path, name, (db) =>
      describeOldSnapshot(db, { name, path }, nowMs, options),
    );
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error;
    if (options.force) return undefined;
    const advice = "restore it, or import with --force, which forgets its takedowns";
    throw new Error(`${error.message}; ${advice}`);
  }
}

/** Verifies the bytes of `file`, which is a copy of a snapshot, and reads it for a change. */
export function verifyOldSnapshot(
  file: string,
  names: FileNames,
  nowMs: number,
): Promise<OldSnapshot> {
  return openVerified(file, names.name, (db) => describeOldSnapshot(db, names, nowMs));
}

/** Reads a snapshot whose bytes have been verified. */
export function describeOldSnapshot(
  db: Database,
  names: Names,
  nowMs: number,
  options: HoldOptions = {},
): OldSnapshot {
  const { counts, unlocked, featured, id_map: mark } = readMeta(db);
  const takedowns = listTakedowns(db, nowMs, options);
  return { ...names, counts, unlocked, featured, mark, takedowns };
}

/** Errors name the snapshot `name`. */
function openVerified(
  file: string,
  name: string,
  read: (db: Database) => OldSnapshot,
): Promise<OldSnapshot> {
  return namingSnapshot(name, async () => {
    const { db } = await openInPlace(file);
    try {
      return read(db);
    } finally {
      db.$client.close();
    }
  });
}
