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
import type { RawRecord, RecordKey, RecordType, SourceIds } from "../domain/dataset.ts";
import { type IdMap, type MapOptions, openIdMap } from "./id-map.ts";
import type { ImportOptions } from "./options.ts";
import { HIDE_ELSEWHERE } from "./takedowns.ts";
import type { OldSnapshot } from "./target.ts";

export type Ids = Awaited<ReturnType<typeof openIds>>;

/** Throws if the ids of the source belong to others than those of the old snapshot. */
export async function openIds(
  source: SourceIds,
  old: OldSnapshot | undefined,
  { idMap, force, ...opening }: MapOptions & Pick<ImportOptions, "idMap" | "force">,
) {
  const map = idMap === undefined ? undefined : await openIdMap(idMap, opening);
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
    /** Returns the id in the snapshot of a record that an operator names, if it can have one. */
    find(type: RecordType, given: string | number): number | undefined {
      if (translator) return translator.find(type, given);
      return typeof given === "number" ? given : undefined;
    },
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

/** Returns why a snapshot with this mark was not made with this map, and what to do. */
function findMismatch(
  name: string,
  mark: string | undefined,
  map: IdMap | undefined,
): string | undefined {
  if (mark === undefined) return map && `${name} was made without an id map; leave out --id-map`;
  if (map?.hasMark(mark)) return undefined;

  if (!map) return `${name} was made with an id map; give that file with --id-map`;
  const problem = `${map.path} is not the id map of ${name}`;
  return `${problem}; give the file that ${name} was made with, and no older copy`;
}
