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
import type { RawRecord, RecordKey } from "../domain/dataset.ts";
import type { SourceIds } from "../domain/record-reader.ts";
import { IdMap } from "./id-map.ts";
import type { OldSnapshot } from "./old-snapshot.ts";
import type { ImportOptions } from "./options.ts";

type IdOptions = Pick<ImportOptions, "idMap" | "force" | "dryRun" | "waitMs" | "onWait"> & {
  /** Whether ids of the map are only looked up. */
  readsOnly?: boolean;
};

export class Ids implements Disposable {
  readonly #map: IdMap | undefined;
  /** The map if the source has keys, and not a snapshot's numbers. */
  readonly #translator: IdMap | undefined;
  /** The mark of the new snapshot, if the source has a snapshot's numbers. */
  readonly #givenMark: string | undefined;

  private constructor(source: SourceIds, old: OldSnapshot | undefined, map: IdMap | undefined) {
    this.#map = map;
    this.#translator = source.kind === "own" ? map : undefined;
    this.#givenMark = source.kind === "own" ? undefined : laterMark(source.mark, old?.mark, map);
  }

  /** Throws if the ids of the source belong to others than those of the old snapshot. */
  static async open(
    source: SourceIds,
    old: OldSnapshot | undefined,
    { idMap, force, dryRun, readsOnly = false, waitMs, onWait }: IdOptions,
  ): Promise<Ids> {
    // With takedowns, a missing map is refused.
    const isBeginning = old === undefined || (force === true && old.takedowns.length === 0);
    const createsMissing = isBeginning && source.kind === "own" && !dryRun;
    const opening = { createsMissing, readsOnly, waitMs, onWait };
    const map = idMap === undefined ? undefined : await IdMap.open(idMap, opening);
    try {
      refuseOthers(source, old, map, force);
      return new Ids(source, old, map);
    } catch (error) {
      map?.[Symbol.dispose]();
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#map?.[Symbol.dispose]();
  }

  /** Adds a mark for new keys to the map. Returns the mark for the snapshot that is written. */
  addMark(): string | undefined {
    return this.#givenMark ?? this.#translator?.addMark();
  }

  /** Replaces the keys in a record of the source by numbers. */
  translate(record: RawRecord): void {
    this.#translator?.translate(record);
  }

  /** Returns the id of a user, whom a command names by a key or, without a map, by the id. */
  findUser(given: number | string): number | undefined {
    if (this.#map) return this.#map.find("user", given);
    return typeof given === "number" ? given : undefined;
  }

  /** Returns the key of the user who has this number, for a person who gives the number instead. */
  findKey(given: number | string): string | undefined {
    const id = Number(given);
    return Number.isSafeInteger(id) ? this.#map?.findKey({ type: "user", id }) : undefined;
  }

  /** Returns the id of a record as its source has it, for messages. */
  inSource(record: RecordKey): string | number {
    return this.#translator?.findKey(record) ?? record.id;
  }

  /** Must come before the snapshot is replaced, so that no id that was served is lost. */
  commit(): void {
    this.#map?.commit();
  }
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
  if (!old || old.takedowns.length === 0) return;

  const problem = "takedowns of the last hour cannot be kept if ids belong to others";
  throw new Error(`${problem}; wait, or import with --hold 0 and hide the users again`);
}

/** Returns why the numbers of the source and the old snapshot are not the map's, and what to do. */
function findConflict(
  source: SourceIds,
  old: OldSnapshot | undefined,
  map: IdMap | undefined,
): string | undefined {
  if (source.kind === "own") return old && findMismatch(old.name, old.mark, map);

  const hasMark = source.mark !== undefined;
  const mismatch = hasMark && map ? findMismatch("the dataset", source.mark, map) : undefined;
  if (mismatch !== undefined || !old || source.mark === old.mark) return mismatch;
  if (hasMark && old.mark !== undefined && map) return findMismatch(old.name, old.mark, map);

  const cure = "choose another --to, or give the id map of both with --id-map";
  return `the numbers in the dataset are not those in ${old.name}; ${cure}`;
}

function findMismatch(
  name: string,
  mark: string | undefined,
  map: IdMap | undefined,
): string | undefined {
  if (mark === undefined) return map && `${name} was made without an id map; leave out --id-map`;
  if (map?.findMark(mark) !== undefined) return undefined;

  if (!map) return `${name} was made with an id map; give that file with --id-map`;
  const problem = `${map.path} is not the id map of ${name}`;
  return `${problem}; give the file that ${name} was made with, and no older copy`;
}

/**
 * Returns the mark that a map got last, or without both in the map, that of the source. Held
 * takedowns have ids of the old snapshot, for which the map may have got more keys since.
 */
function laterMark(
  sourceMark: string | undefined,
  oldMark: string | undefined,
  map: IdMap | undefined,
): string | undefined {
  if (!map || sourceMark === undefined || oldMark === undefined) return sourceMark;
  const number = map.findMark(sourceMark);
  const oldNumber = map.findMark(oldMark);
  const isOld = number !== undefined && oldNumber !== undefined && oldNumber > number;
  return isOld ? oldMark : sourceMark;
}
