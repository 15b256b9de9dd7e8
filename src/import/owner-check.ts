/**
 * Finds out that the ids of a source, of the snapshot that it replaces and of an id map are not the
 * same owner's. A number must never come to mean another person: a takedown would then hide a
 * stranger, and an import would publish the one who asked to be hidden.
 */
import type { SourceIds } from "../domain/record-reader.ts";
import type { IdMap } from "./id-map.ts";
import type { OldSnapshot } from "./old-snapshot.ts";

const AGAIN = "or start again with import --force";

/**
 * Throws if the ids of the source belong to others than those of the old snapshot. With `force`,
 * throws only if this would lose takedowns.
 */
export function checkOwner(
  source: SourceIds,
  old: OldSnapshot | undefined,
  map: IdMap | undefined,
  force = false,
): void {
  const oldConflict = old && findOldConflict(source, old, map);
  const conflict = findSourceConflict(source, map) ?? oldConflict;
  if (conflict !== undefined && !force) throw new Error(conflict);

  if (old && oldConflict !== undefined && old.takedowns.length > 0) {
    const problem = "takedowns of the last hour cannot be kept if ids belong to others";
    throw new Error(`${problem}; wait, or import with --hold 0 and hide the users again`);
  }
}

/** Returns why the numbers of the source are not from the map, if so, and what to do. */
function findSourceConflict(source: SourceIds, map: IdMap | undefined): string | undefined {
  if (source.kind === "own" || source.mark === undefined || !map) return undefined;
  return findMismatch(map, source.mark, "the dataset");
}

/** Returns why the ids of the source are not those of the old snapshot, if so, and what to do. */
function findOldConflict(
  source: SourceIds,
  old: OldSnapshot,
  map: IdMap | undefined,
): string | undefined {
  if (source.kind === "own") return findMapConflict(old, map);

  const { name, mark } = old;
  if (source.mark === mark) return undefined;

  const isMarked = source.mark !== undefined;
  if (map && mark !== undefined) {
    const mismatch = findMismatch(map, mark, name);
    if (mismatch !== undefined || isMarked) return mismatch;
  }

  if (isMarked && mark !== undefined) {
    const problem = `the dataset and ${name} are from different states of an id map`;
    return `${problem}; name the map with --id-map, ${AGAIN}`;
  }

  const problem = isMarked
    ? `the dataset was made with an id map, but ${name} without one`
    : `the dataset was made without an id map, but ${name} with one`;
  return `${problem}; choose another --to, ${AGAIN}`;
}

/** Returns why the map, or its absence, does not go with the old snapshot, if so, and what to do. */
function findMapConflict({ name, mark }: OldSnapshot, map: IdMap | undefined): string | undefined {
  if (mark !== undefined) {
    if (map) return findMismatch(map, mark, name);
    return `${name} was made with an id map; give that file with --id-map`;
  }

  if (!map) return undefined;
  return `${name} was made without an id map; leave out --id-map ${map.path}, ${AGAIN}`;
}

/** Returns why the map is not the one that `owner`, which has this mark, was made with. */
function findMismatch(map: IdMap, mark: string, owner: string): string | undefined {
  const mismatch = map.findMismatch(mark);
  if (mismatch === undefined) return undefined;

  const problems = {
    missing: `does not exist, but ${owner} was made with an id map; restore it`,
    empty: `is empty, but ${owner} was made with an id map; restore it`,
    another: `is not the id map that ${owner} was made with; name that one`,
    older: `is an older copy of the id map that ${owner} was made with; restore the newest`,
  };
  return `${map.path} ${problems[mismatch]}, ${AGAIN}`;
}
