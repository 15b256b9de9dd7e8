/** Reads what a command must know about the snapshot that it replaces. */
import { existsSync } from "node:fs";
import { isSnapshot } from "../snapshot/format/layout.ts";
import { readMeta } from "../snapshot/format/meta.ts";
import { openInPlace } from "../snapshot/format/open.ts";
import { namingSnapshot, SnapshotError } from "../snapshot/format/snapshot-error.ts";
import type { Database } from "../sqlite/driver.ts";
import type { ImportOptions } from "./options.ts";
import type { Summary } from "./summary.ts";
import { listTakedowns, type Takedown } from "./takedowns.ts";

/** The snapshot that will be replaced. */
export interface OldSnapshot extends Summary {
  /** The path as the command was given it, for messages. */
  name: string;
  /** The file, to compare it with a new snapshot; undefined for a snapshot in memory. */
  path?: string;
  /** The last mark of the id map with which the snapshot was made, if any. */
  mark: string | undefined;
  /** The takedowns that are held. */
  takedowns: Takedown[];
}

export type OldNames = Required<Pick<OldSnapshot, "name" | "path">>;

/** `what` is the kind of file that the command writes, such as "a Roadbook snapshot". */
export function notOverwritten(target: string, what: string): string {
  return `${target} exists and is not ${what}; choose another --to, or overwrite it with --force`;
}

/**
 * Reads the old snapshot, if there is one. Throws if the file is something else or is damaged,
 * because an import could then undo takedowns. With `force`, such a file is treated as missing.
 */
export async function readOldSnapshot(
  { name, path }: OldNames,
  nowMs: number,
  { force, holdMs }: Pick<ImportOptions, "force" | "holdMs">,
): Promise<OldSnapshot | undefined> {
  if (!existsSync(path)) return undefined;
  if (!isSnapshot(path)) {
    if (force) return undefined;
    throw new Error(notOverwritten(name, "a Roadbook snapshot"));
  }

  try {
    return await namingSnapshot(name, async () => {
      const { db } = await openInPlace(path);
      try {
        return { ...describeSnapshot(db, name, nowMs, holdMs), path };
      } finally {
        db.$client.close();
      }
    });
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error;
    if (force) return undefined;
    const advice = "restore it, or import with --force, which forgets its takedowns";
    throw new Error(`${error.message}; ${advice}`);
  }
}

/** Describes a snapshot, whose bytes have been verified, before anything in it is changed. */
export function describeSnapshot(
  db: Database,
  name: string,
  nowMs: number,
  holdMs?: number,
): OldSnapshot {
  const { counts, unlocked, featured, id_map: mark } = readMeta(db);
  return { name, counts, unlocked, featured, mark, takedowns: listTakedowns(db, nowMs, holdMs) };
}
