/**
 * Gives the records of a source the ids that they have in a snapshot.
 *
 * In a source, ids are either numbers, or keys that an id map translates. A snapshot keeps the last
 * mark of its map. The records of a snapshot (the file as a source, or an export, whose first
 * line names the mark) have numbers, which are not translated again.
 */
import type { RawRecord, RecordKey } from "../domain/dataset.ts";
import type { SourceIds } from "../domain/record-reader.ts";
import type { LockOptions } from "../files/lock.ts";
import { IdMap } from "./id-map.ts";
import type { OldSnapshot, OverwriteOptions } from "./old-snapshot.ts";
import { checkOwner } from "./owner-check.ts";

export interface IdOptions {
  /** The file that maps ids of any kind to integers. Without it, ids must be integers. */
  idMap?: string | undefined;
}

/** Also how long to wait for the map, and whether a snapshot with others' ids is overwritten. */
interface OpenOptions extends IdOptions, LockOptions, OverwriteOptions {
  /** Whether a map that does not exist stays so, even if it would be created. */
  dryRun?: boolean | undefined;
  /** Whether ids of the map are only looked up. */
  readsOnly?: boolean | undefined;
}

export class Ids implements Disposable {
  readonly #source: SourceIds;
  readonly #map: IdMap | undefined;
  /** The map if the source has keys, and not a snapshot's numbers. */
  readonly #translator: IdMap | undefined;
  /** The mark of the new snapshot, if the source has a snapshot's numbers. */
  readonly #givenMark: string | undefined;
  /** Which keys the users so far have: valid ids without a map, or others. */
  #userKeys: "none" | "integers" | "others" = "none";

  private constructor(source: SourceIds, old: OldSnapshot | undefined, map: IdMap | undefined) {
    this.#source = source;
    this.#map = map;
    this.#translator = source.kind === "own" ? map : undefined;
    this.#givenMark = source.kind === "own" ? undefined : laterMark(source.mark, old?.mark, map);
  }

  /** Throws if the ids of the source belong to others than those of the old snapshot. */
  static async open(
    source: SourceIds,
    old: OldSnapshot | undefined,
    options: OpenOptions,
  ): Promise<Ids> {
    const map = await openMap(source, old, options);
    try {
      checkOwner(source, old, map, options.force);
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
    return this.#source.kind === "own" ? this.#map?.addMark() : this.#givenMark;
  }

  /** Replaces the keys in a record of the source by numbers. */
  translate(record: RawRecord): void {
    if (!this.#translator) return;

    if (record.type === "user" && this.#userKeys !== "others") {
      this.#userKeys = isInteger(record.id) ? "integers" : "others";
    }
    this.#translator.translate(record);
  }

  /** Whether the map has replaced numbers of users that needed no map. */
  hasNeedlessMap(): boolean {
    return this.#userKeys === "integers";
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

/** Opens the map, which is created only for a snapshot that nobody has yet. */
async function openMap(
  source: SourceIds,
  old: OldSnapshot | undefined,
  { idMap, force, dryRun, ...options }: OpenOptions,
): Promise<IdMap | undefined> {
  if (idMap === undefined) return undefined;
  const isNew = old === undefined || force === true;
  const getsKeys = source.kind === "own" && !dryRun;
  return IdMap.open(idMap, { ...options, createsMissing: isNew && getsKeys });
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
  return map.isLater(oldMark, sourceMark) ? oldMark : sourceMark;
}

/** Whether a key, which tables have as text, is a valid id. */
function isInteger(key: unknown): boolean {
  const isDecimal = typeof key === "number" || (typeof key === "string" && /^[1-9]\d*$/.test(key));
  return isDecimal && Number.isSafeInteger(Number(key)) && Number(key) > 0;
}
