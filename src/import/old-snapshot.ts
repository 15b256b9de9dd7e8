/**
 * What a command keeps of the snapshot that it replaces: its counts, the mark of its id map, and its
 * takedowns, so that an import from a source that lags behind does not undo for an hour what `apply`
 * or `hide` has made private or deleted. Of takedowns, a snapshot has only the ids and times.
 */
import { existsSync } from "node:fs";
import { eq, gt, lte, sql } from "drizzle-orm";
import { isSnapshot, SnapshotError, toSnapshotError } from "../snapshot/format/layout.ts";
import { readMeta, type Summary } from "../snapshot/format/meta.ts";
import { openInPlace } from "../snapshot/format/open.ts";
import { privateUser, takedown, user } from "../snapshot/format/schema.ts";
import type { Database } from "../sqlite/driver.ts";
import type { ImportOptions } from "./options.ts";

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

/** How long a takedown is remembered, and so the longest time for which an import can hold it. */
export const MAX_HOLD_MS = 3_600_000;

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
  { force, holdMs }: ImportOptions,
): Promise<OldSnapshot | undefined> {
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
  const takedowns = listTakedowns(db, nowMs, holdMs);
  const { counts, unlocked, featured, id_map: mark } = readMeta(db);
  return { name, counts, unlocked, featured, mark, takedowns };
}

/** How ids can come to mean others while takedowns are held, and nobody hidden is served meanwhile. */
export const HIDE_ELSEWHERE =
  "import into another --to, hide the users of the last hour there, and move it here";

/** `at` is in milliseconds since 1970. A user who is not hidden has been deleted. */
interface Takedown {
  id: number;
  at: number;
  isHidden: boolean;
}

/** Notes takedowns at `nowMs`, and removes those that have expired. */
export function createTakedowns(db: Database, nowMs: number) {
  const id = sql.placeholder("id");
  const insert = db.insert(takedown).values({ id, at: nowMs }).prepare();
  const remove = db.delete(takedown).where(eq(takedown.id, id)).prepare();
  db.delete(takedown)
    .where(lte(takedown.at, nowMs - MAX_HOLD_MS))
    .run();
  return {
    /** Begins the hour of a user, also of one who has not been imported yet, or begins it again. */
    begin(id: number): void {
      remove.run({ id });
      insert.run({ id });
    },
    end(id: number): void {
      remove.run({ id });
    },
  };
}

/** Lists the takedowns in the snapshot that will be replaced, except those older than `holdMs`. */
function listTakedowns(old: Database, nowMs: number, holdMs = MAX_HOLD_MS): Takedown[] {
  // The clock may have been set back since the takedown.
  const at = sql<number>`min(${takedown.at}, ${nowMs})`;
  const rows = old
    .select({ id: takedown.id, at, hidden: privateUser.id })
    .from(takedown)
    .leftJoin(privateUser, eq(privateUser.id, takedown.id))
    .where(gt(at, nowMs - Math.min(holdMs, MAX_HOLD_MS)))
    .all();
  return rows.map(({ id, at, hidden }) => ({ id, at, isHidden: hidden !== null }));
}

/**
 * Keeps these users private or deleted, whatever the imported dataset says. Returns for how many
 * users it says otherwise.
 */
export function holdTakedowns(db: Database, takedowns: readonly Takedown[]): number {
  let held = 0;
  for (const { id, at, isHidden } of takedowns) {
    const wasPublic = db.delete(user).where(eq(user.id, id)).run().changes > 0;
    const wasPrivate = db.delete(privateUser).where(eq(privateUser.id, id)).run().changes > 0;
    if (isHidden) db.insert(privateUser).values({ id }).run();
    db.insert(takedown).values({ id, at }).run();
    if (wasPublic || wasPrivate !== isHidden) held++;
  }
  return held;
}
