/**
 * Gives the records of a source the ids that they have in a snapshot.
 *
 * In a source, ids are either numbers, or keys that an id map translates. The records of a snapshot (the
 * file as a source, or an export, whose first line names the mark) have numbers, which are not translated
 * again. The map must have the marks of all numbers, for the reason in ../domain/README.md.
 */
import type { RawRecord, RecordId, SourceIds } from "../domain/records.ts";
import type { IdMap } from "./id-map.ts";
import { HIDE_ELSEWHERE } from "./takedowns.ts";
import type { OldSnapshot } from "./target.ts";

export type Ids = ReturnType<typeof createIds>;

/** Throws, unless `force` is set, if the ids of the source belong to others than those of the old snapshot. */
export function createIds(source: SourceIds, old?: OldSnapshot, map?: IdMap, force = false) {
  refuseOthers(source, old, map, force);

  /** The map if the source has keys, and not a snapshot's numbers. */
  const translator = source.kind === "own" ? map : undefined;
  /** Returns the mark of the new snapshot: that of whose numbers it has. */
  function findMark(): string | undefined {
    if (source.kind === "own") return map?.addMark();
    // Held takedowns may have newer numbers than an old export.
    return map?.isLater(old?.id_map, source.mark) ? old?.id_map : source.mark;
  }

  return {
    /** Returns the id in the snapshot of a user whom an operator names, if the user can have one. */
    findUser(given: string | number): number | undefined {
      if (translator) return translator.findUser(given);
      return typeof given === "number" ? given : undefined;
    },
    /** Returns a record of the source with numbers instead of keys. */
    translate: (record: RawRecord): RawRecord => translator?.translate(record) ?? record,
    /** Returns the id of a record as its source has it, for messages. */
    inSource: (record: RecordId): string | number => translator?.findKey(record) ?? record.id,
    /**
     * Commits the map, with a mark for its new keys. Returns the mark for the metadata of the snapshot,
     * which is therefore replaced later, so that no id that was served is lost.
     */
    async commit(): Promise<string | undefined> {
      const mark = findMark();
      await map?.commit();
      return mark;
    },
  };
}

/** With `force`, throws only if this would lose takedowns. */
function refuseOthers(
  source: SourceIds,
  old: OldSnapshot | undefined,
  map: IdMap | undefined,
  force: boolean,
): void {
  const conflict = findConflict(source, old, map);
  if (conflict === undefined) return;
  if (!force) throw new Error(conflict);
  if (!old?.hasTakedowns) return;

  const problem = "takedowns of the last hour cannot be kept if ids belong to others";
  throw new Error(`${problem}; wait, or ${HIDE_ELSEWHERE}`);
}

/**
 * Returns why the numbers of the source, the old snapshot and the map may be different people's, and what
 * to do. For example, with a map that has the marks a and b, but not z:
 *
 * | source | map | old snapshot | what is wrong |
 * |---|---|---|---|
 * | own ids | given | no mark | the old snapshot has no map |
 * | own ids | not given | mark a | the old snapshot has a map |
 * | own ids | given | mark z | the old snapshot has another map |
 * | mark z | given | any, or none | the dataset has another map |
 * | mark a | given | mark z | the old snapshot has another map |
 * | mark a | given | mark b | nothing, although the marks differ |
 * | any mark, or none | given or not | another mark, or none | the numbers may be others |
 *
 * The first row that fits decides. If none fits, nothing is wrong.
 */
function findConflict(
  source: SourceIds,
  old: OldSnapshot | undefined,
  map: IdMap | undefined,
): string | undefined {
  const mark = old?.id_map;
  if (source.kind === "own") {
    if (!old) return undefined;
    if (mark === undefined)
      return map && `${old.name} was made without an id map; leave out --id-map`;
    if (!map) return `${old.name} was made with an id map; give that file with --id-map`;
    return map.hasMark(mark) ? undefined : explainOther(map, old.name);
  }

  if (map && source.mark !== undefined) {
    if (!map.hasMark(source.mark)) return explainOther(map, "the dataset");
    if (old && mark !== undefined)
      return map.hasMark(mark) ? undefined : explainOther(map, old.name);
  }
  if (!old || source.mark === mark) return undefined;
  const cure = "choose another --to, or give the id map of both with --id-map";
  return `the numbers in the dataset are not those in ${old.name}; ${cure}`;
}

function explainOther(map: IdMap, name: string): string {
  const cure = `give the file that ${name} was made with, and no older copy`;
  return `${map.path} is not the id map of ${name}; ${cure}`;
}
