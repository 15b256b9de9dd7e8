/** Reads what a command must know of the snapshot that it replaces. */
import { existsSync } from "node:fs";
import { findFile } from "../files/replace.ts";
import { isSnapshot, SnapshotError, toSnapshotError } from "../snapshot/format/layout.ts";
import { type Meta, readMeta } from "../snapshot/format/meta.ts";
import { openInPlace } from "../snapshot/format/open.ts";
import type { Database } from "../sqlite/driver.ts";
import type { ImportOptions } from "./options.ts";
import { hasTakedowns } from "./takedowns.ts";

/** The snapshot that will be replaced. */
export interface OldSnapshot extends Meta {
  /** The path as the command was given it, for messages. */
  name: string;
  /** Whether the takedowns in it are held. */
  hasTakedowns: boolean;
  /** The file; undefined for one that has been opened already. */
  path?: string;
}

/** `what` is the kind of file that the command writes, such as "a Roadbook snapshot". */
export function notOverwritten(target: string, what: string): string {
  return `${target} exists and is not ${what}; choose another --to, or overwrite it with --force`;
}

/**
 * Reads the snapshot at `name`, if there is one. Throws if the file is something else or is damaged, because an import
 * could then undo takedowns. With `force`, such a file is treated as missing.
 */
export async function readOldSnapshot(
  name: string,
  nowMs: number,
  { force, holdMs }: ImportOptions,
): Promise<OldSnapshot | undefined> {
  const path = findFile(name);
  if (!existsSync(path)) return undefined;
  if (!isSnapshot(path)) {
    if (force) return undefined;
    throw new Error(notOverwritten(name, "a Roadbook snapshot"));
  }

  try {
    const { db } = await openInPlace(path);
    try {
      return { ...describeSnapshot(db, name, nowMs, holdMs), path };
    } finally {
      db.$client.close();
    }
  } catch (error) {
    const named = toSnapshotError(name, error);
    if (!(named instanceof SnapshotError)) throw named;
    if (force) return undefined;
    const advice = "restore it, or import with --force, which forgets its takedowns";
    throw new Error(`${named.message}; ${advice}`);
  }
}

/** Describes a snapshot, whose bytes have been verified, before anything in it is changed. */
export function describeSnapshot(
  db: Database,
  name: string,
  nowMs: number,
  holdMs?: number,
): OldSnapshot {
  return { ...readMeta(db), name, hasTakedowns: hasTakedowns(db, { nowMs, holdMs }) };
}
