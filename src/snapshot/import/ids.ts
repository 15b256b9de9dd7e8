/**
 * Decides whose ids the records of a source have. A number must never come to mean another person:
 * a takedown would then hide a stranger, and an import would publish the one who asked to be hidden.
 *
 * In a source, ids are either numbers, or keys that an id map translates. A snapshot keeps the last
 * mark of its map. What comes out of a snapshot (the file as a source, or an export, whose first
 * line names the mark) has numbers, which are not translated again.
 */
import type { RawRecord, RecordKey } from "../../domain/dataset.ts";
import type { SourceIds } from "../../domain/record-source.ts";
import type { LockOptions } from "../../files/lock.ts";
import { IdMap } from "../../tables/id-map.ts";
import type { Target } from "./target.ts";

export interface IdOptions extends LockOptions {
  /** The file that maps ids of any kind to integers. Without it, ids must be integers. */
  idMap?: string | undefined;
  /** Whether an import may replace a snapshot whose ids belong to others. */
  force?: boolean | undefined;
  dryRun?: boolean | undefined;
}

type Numbers = { map: string | undefined } | undefined;

const AGAIN = "or start again with import --force";

export class Ids implements Disposable {
  readonly #map: IdMap | undefined;
  /** Set if the source has numbers. */
  readonly #numbers: Numbers;
  /** Whether the key of every user so far would be a valid id without a map. */
  #areIntegers: boolean | undefined;

  private constructor(map: IdMap | undefined, numbers?: Numbers) {
    this.#map = map;
    this.#numbers = numbers;
  }

  /** Throws if the ids of the source belong to others than those of the snapshot in `target`. */
  static async open(source: SourceIds, target: Target | undefined, options: IdOptions) {
    const numbers = source.kind === "snapshot" ? { map: source.mark } : undefined;
    if (options.idMap === undefined) {
      return new Ids(undefined, checkOwner(numbers, target, undefined, options));
    }
    const map = await IdMap.open(options.idMap, false, options);
    try {
      const owned = checkOwner(numbers, target, map, options);
      if (owned || !map.isMissing || options.dryRun) return new Ids(map, owned);
    } catch (error) {
      map[Symbol.dispose]();
      throw error;
    }
    map[Symbol.dispose]();
    return new Ids(await IdMap.open(options.idMap, true, options));
  }

  [Symbol.dispose](): void {
    this.#map?.[Symbol.dispose]();
  }

  /** The mark for the snapshot that is written. */
  mark(): string | undefined {
    return this.#numbers ? this.#numbers.map : this.#map?.mark();
  }

  /** Replaces the keys in a record by numbers. */
  translate(record: RawRecord): void {
    if (this.#numbers || !this.#map) return;
    if (record.type === "user" && this.#areIntegers !== false) {
      this.#areIntegers = isInteger(record.id);
    }
    this.#map.translate(record);
  }

  /** Whether the map has replaced numbers of users that needed no map. */
  hasNeedlessMap(): boolean {
    return this.#areIntegers === true;
  }

  /** Returns the id of a user, which a command names as the source does. */
  findUser(given: number | string): number | undefined {
    return this.#map ? this.#map.find("user", given) : Number(given);
  }

  /** Returns the id of a record as its source has it, for messages. */
  inSource(record: RecordKey): string | number {
    return (this.#numbers ? undefined : this.#map?.findKey(record)) ?? record.id;
  }

  /** Must come before the snapshot is replaced, so that no id that was served is lost. */
  commit(): void {
    this.#map?.commit();
  }
}

/** Whether a key, which tables have as text, is a valid id. */
function isInteger(key: unknown): boolean {
  const isDecimal = typeof key === "number" || (typeof key === "string" && /^[1-9]\d*$/.test(key));
  return isDecimal && Number.isSafeInteger(Number(key)) && Number(key) > 0;
}

/**
 * Throws if the ids of the source, the target and the map belong to different owners. Returns the
 * numbers of the source, with the mark for the new snapshot.
 */
function checkOwner(
  numbers: Numbers,
  target: Target | undefined,
  map: IdMap | undefined,
  { force }: IdOptions,
): Numbers {
  const inSource = numbers?.map !== undefined && findMismatch(map, numbers.map, "the dataset");
  const inTarget = target && findConflict(numbers, target, map);
  const conflict = inSource || inTarget;
  if (conflict && !force) throw new Error(conflict);

  if (inTarget && target.takedowns.length > 0) {
    const problem = "takedowns of the last hour cannot be kept if ids belong to others";
    throw new Error(`${problem}; wait, or import with --hold 0 and hide the users again`);
  }

  if (conflict || !map || numbers?.map === undefined || target?.mark === undefined) return numbers;
  // Held takedowns have ids of the target, for which the map may have got more keys since.
  return { map: map.laterOf(numbers.map, target.mark) };
}

/** Returns why the ids of the source are not those of the target, if so, and what to do. */
function findConflict(numbers: Numbers, target: Target, map?: IdMap): string | undefined {
  const { name, mark } = target;
  if (numbers && numbers.map === mark) return undefined;
  if (mark !== undefined && map) {
    const mismatch = findMismatch(map, mark, name);
    if (mismatch !== undefined || !numbers || numbers.map !== undefined) return mismatch;
  }

  if (numbers) {
    if (mark !== undefined && numbers.map !== undefined) {
      const problem = `the dataset and ${name} are from different states of an id map`;
      return `${problem}; name the map with --id-map, ${AGAIN}`;
    }
    const problem =
      mark === undefined
        ? `the dataset was made with an id map, but ${name} without one`
        : `the dataset was made without an id map, but ${name} with one`;
    return `${problem}; choose another --to, ${AGAIN}`;
  }
  if (mark !== undefined) {
    return `${name} was made with an id map; name that file with --id-map, ${AGAIN}`;
  }
  // Version 0.1.0 had no id maps, so a snapshot of it can begin to use one.
  if (!map || (target.isOfOlderRelease && map.isEmpty())) return undefined;
  return `${name} was made without an id map; leave out --id-map ${map.path}, ${AGAIN}`;
}

/** Returns why the map is not the one that `owner`, which has this mark, was made with. */
function findMismatch(map: IdMap | undefined, mark: string, owner: string): string | undefined {
  const mismatch = map?.findMismatch(mark);
  if (!map || mismatch === undefined) return undefined;
  const problems = {
    missing: `does not exist, but ${owner} was made with an id map; restore it`,
    empty: `is empty, but ${owner} was made with an id map; restore it`,
    another: `is not the id map that ${owner} was made with; name that one`,
    older: `is an older copy of the id map that ${owner} was made with; restore the newest`,
  };
  return `${map.path} ${problems[mismatch]}, ${AGAIN}`;
}
