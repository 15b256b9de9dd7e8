/** The snapshot that an import, a change file or a takedown will replace. All read it first. */
import { existsSync } from "node:fs";
import { findFile } from "../files/replace.ts";
import { isSnapshot, SnapshotError, toSnapshotError } from "../snapshot/format/layout.ts";
import { type Meta, readMeta } from "../snapshot/format/meta.ts";
import { openInPlace } from "../snapshot/format/open.ts";
import { takedown } from "../snapshot/format/schema.ts";
import type { Database } from "../sqlite/driver.ts";
import type { ImportOptions } from "./options.ts";
import { type Hold, whereHeld } from "./takedowns.ts";
import { notOverwritten } from "./target.ts";

/** The snapshot that will be replaced. */
export interface OldSnapshot extends Meta {
  /** The path as the command was given it, for messages. */
  name: string;
  /** Whether it has takedowns that are held. */
  hasTakedowns: boolean;
}

/** An import also needs its file, whose rows it compares with the new ones. */
interface OldFile extends OldSnapshot {
  /** Where it is, without symbolic links. */
  path: string;
}

/**
 * Reads the snapshot at `name`, if there is one. Throws if the file is something else or is damaged,
 * because an import could then undo takedowns. With `force`, such a file is treated as missing.
 */
export async function readOldFile(
  name: string,
  nowMs: number,
  { force, holdMs }: Pick<ImportOptions, "force" | "holdMs">,
): Promise<OldFile | undefined> {
  const path = findFile(name);
  if (!existsSync(path)) return undefined;
  if (!isSnapshot(path)) {
    if (force) return undefined;
    throw new Error(notOverwritten(name, "a Roadbook snapshot"));
  }

  try {
    const { db } = await openInPlace(path);
    try {
      return { ...readOld(db, name, { nowMs, holdMs }), path };
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

/** Reads the facts of a snapshot that an import needs before it replaces it. */
export function readOld(db: Database, name: string, hold: Hold): OldSnapshot {
  const held = db.select().from(takedown).where(whereHeld(hold)).get();
  return { ...readMeta(db), name, hasTakedowns: held !== undefined };
}
