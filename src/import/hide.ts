/** Makes single users private in a snapshot, which is a takedown. */
import { eq, sql } from "drizzle-orm";
import { OWN_IDS } from "../domain/record-reader.ts";
import type { ReplaceOptions } from "../files/replace.ts";
import { privateUser, user } from "../snapshot/format/schema.ts";
import type { Database } from "../sqlite/driver.ts";
import { applyTo, type Copy, copyVerified, replaceExisting } from "./apply.ts";
import { type IdOptions, Ids } from "./ids.ts";
import { ListReader } from "./list-reader.ts";
import { type BuildTime, SnapshotWriter } from "./snapshot-writer.ts";
import type { WriteReport } from "./write-report.ts";

/** A user whom `hideUsers` made private or found private. */
interface Found {
  /** The id in the snapshot. */
  id: number;
  /** The id as it was given, which may be a key of the id map. */
  given: number | string;
  wasPublic: boolean;
}

export interface HideOptions extends BuildTime, ReplaceOptions, IdOptions {}

/**
 * Makes users private in the snapshot file `target`, and returns them as they were. Rejects if one
 * of them does not exist. An import keeps to this for an hour, even for those already private.
 */
export function hideUsers(
  given: readonly (number | string)[],
  target: string,
  options: HideOptions = {},
): Promise<WriteReport & { found: Found[] }> {
  return replaceExisting(target, options, async (paths) => {
    const old = await copyVerified(target, paths, options);
    using ids = await Ids.open(OWN_IDS, old, { ...options, readsOnly: true });
    using writer = SnapshotWriter.change(paths.work, paths.old, options.builtAtMs);
    const copy = { paths, writer, ids, old };

    const found = findUsers(copy, given);
    const changes = found.map(({ given: id }) => ({ type: "user", id, public: false }));
    const report = await applyTo(copy, new ListReader(changes), { ...options, allowShrink: true });
    return { ...report, found };
  });
}

/** Finds each user once. Throws unless all of them are in the snapshot. */
function findUsers({ writer, ids, old }: Copy, names: readonly (number | string)[]): Found[] {
  const isPublic = prepareIsPublic(writer.db);
  const found = new Map<number, Found>();
  const missing: string[] = [];

  for (const given of names) {
    const id = ids.findUser(given);
    const wasPublic = id === undefined ? undefined : isPublic(id);
    if (id === undefined || wasPublic === undefined) missing.push(describeMissing(given, ids));
    else if (!found.has(id)) found.set(id, { id, given, wasPublic });
  }

  if (missing.length === 0) return [...found.values()];
  throw new Error(`not found in ${old.name}: ${missing.join(", ")}; nothing was written`);
}

/** A page has the number in its address, but the id map finds a user by the key. */
function describeMissing(given: number | string, ids: Ids): string {
  const key = ids.findKey(given);
  return key === undefined ? `user ${given}` : `user ${given} (number ${given} has the key ${key})`;
}

/** Returns a function that is undefined for a user who does not exist. */
function prepareIsPublic(db: Database): (id: number) => boolean | undefined {
  const id = sql.placeholder("id");
  const findPublic = db.select({ id: user.id }).from(user).where(eq(user.id, id)).prepare();
  const findPrivate = db.select().from(privateUser).where(eq(privateUser.id, id)).prepare();
  return (id) => {
    if (findPublic.get({ id })) return true;
    return findPrivate.get({ id }) ? false : undefined;
  };
}
