/**
 * Gives the records of a source the ids that they have in a snapshot.
 *
 * In a source, ids are either numbers, or keys that an id map translates. A snapshot keeps the last
 * mark of its map. The records of a snapshot (the file as a source, or an export, whose first line
 * names the mark) have numbers, which are not translated again.
 *
 * A number must never come to mean another person: a takedown would then hide a stranger, and an
 * import would publish the one who asked to be hidden. So the map must have the marks of all numbers.
 */
import type { RawRecord, RecordKey, SourceIds } from "../domain/dataset.ts";
import { findMismatch, type IdMap, openIdMap } from "./id-map.ts";
import type { OldSnapshot } from "./old-snapshot.ts";
import type { ImportOptions } from "./options.ts";
import { HIDE_ELSEWHERE } from "./takedowns.ts";

export type Ids = Awaited<ReturnType<typeof openIds>>;

/** Throws if the ids of the source belong to others than those of the old snapshot. */
export async function openIds(
  source: SourceIds,
  old: OldSnapshot | undefined,
  { idMap, force, waitMs, onWait }: ImportOptions,
) {
  const map = idMap === undefined ? undefined : await openIdMap(idMap, { waitMs, onWait });
  const close = () => map?.[Symbol.dispose]();
  try {
    refuseOthers(source, old, map, force);
  } catch (error) {
    close();
    throw error;
  }

  /** The map if the source has keys, and not a snapshot's numbers. */
  const translator = source.kind === "own" ? map : undefined;
  /**
   * The mark of the new snapshot, if the source has a snapshot's numbers. Held takedowns have ids of the
   * old snapshot, for which the map may have got more keys since.
   */
  const givenMark =
    source.kind === "own" ? undefined : (map?.findLater(source.mark, old?.id_map) ?? source.mark);
  return {
    /** Adds a mark for new keys to the map. Returns the mark for the snapshot that is written. */
    addMark: (): string | undefined => givenMark ?? translator?.addMark(),
    /** Replaces the keys in a record of the source by numbers. */
    translate: (record: RawRecord): void => translator?.translate(record),
    /** Returns the id of a record as its source has it, for messages. */
    inSource: (record: RecordKey): string | number => translator?.findKey(record) ?? record.id,
    /** Must come before the snapshot is replaced, so that no id that was served is lost. */
    commit: async (): Promise<void> => map?.commit(),
    [Symbol.dispose]: close,
  };
}

/** With `force`, throws only if this would lose takedowns. */
function refuseOthers(
  source: SourceIds,
  old: OldSnapshot | undefined,
  map: IdMap | undefined,
  force = false,
): void {
  const conflict = findConflict(source, old, map);
  if (conflict === undefined) return;
  if (!force) throw new Error(conflict);
  if (!old?.hasTakedowns) return;

  const problem = "takedowns of the last hour cannot be kept if ids belong to others";
  throw new Error(`${problem}; wait, or ${HIDE_ELSEWHERE}`);
}

/** Returns why the numbers of the source and the old snapshot are not the map's, and what to do. */
function findConflict(
  source: SourceIds,
  old: OldSnapshot | undefined,
  map: IdMap | undefined,
): string | undefined {
  if (source.kind === "own") return old && findMismatch(old.name, old.id_map, map);

  const hasMark = source.mark !== undefined;
  const mismatch = hasMark && map ? findMismatch("the dataset", source.mark, map) : undefined;
  if (mismatch !== undefined || !old || source.mark === old.id_map) return mismatch;
  if (hasMark && old.id_map !== undefined && map) return findMismatch(old.name, old.id_map, map);

  const cure = "choose another --to, or give the id map of both with --id-map";
  return `the numbers in the dataset are not those in ${old.name}; ${cure}`;
}
