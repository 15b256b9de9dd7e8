/**
 * Gives the records of a source the ids that they have in a snapshot.
 *
 * In a source, ids are either numbers, or keys (ids of any kind, such as UUIDs) that an id map
 * translates. The map is a file that gives each key an integer, and never forgets a key. Each batch of
 * new keys gets a random mark, and a snapshot keeps the last mark of its map. The records of a snapshot
 * (the file as a source, or an export, whose first line names the mark) have numbers, which are not
 * translated again.
 *
 * A number must never come to mean another person: a takedown would then hide a stranger, and an
 * import would publish the one who asked to be hidden. So the map must have the marks of all numbers.
 */
import { statSync } from "node:fs";
import { sqlite } from "#sqlite";
import {
  type RawRecord,
  type RecordId,
  type RecordType,
  recordTypes,
} from "../domain/raw-records.ts";
import type { SourceIds } from "../domain/record-reader.ts";
import { toKey } from "../domain/source-ids.ts";
import { isDamagedDatabase, naming } from "../files/errors.ts";
import { waitForLock } from "../files/lock.ts";
import { type Paths, replaceFile } from "../files/replace.ts";
import type { Sqlite } from "../sqlite/driver.ts";
import { HIDE_ELSEWHERE, type OldSnapshot } from "./old-snapshot.ts";
import type { ImportOptions } from "./options.ts";

interface OpenOptions extends ImportOptions {
  /** Whether keys are only looked up. Then, another command may add keys meanwhile. */
  readsOnly?: boolean;
}

export type Ids = Awaited<ReturnType<typeof openIds>>;

/** Throws if the ids of the source belong to others than those of the old snapshot. */
export async function openIds(
  source: SourceIds,
  old: OldSnapshot | undefined,
  options: OpenOptions = {},
) {
  const { idMap, force } = options;
  const map = idMap === undefined ? undefined : await openIdMap(idMap, options);
  const close = () => map?.[Symbol.dispose]();
  try {
    refuseOthers(source, old, map, force);
  } catch (error) {
    close();
    throw error;
  }

  /** The map if the source has keys, and not a snapshot's numbers. */
  const translator = source.kind === "own" ? map : undefined;
  /** Returns the mark of the new snapshot: that of whose numbers it has. */
  function findMark(): string | undefined {
    if (source.kind === "own") return map?.addMark();
    // Held takedowns may have newer numbers than an old export.
    return map?.isLater(old?.id_map, source.mark) ? old?.id_map : source.mark;
  }

  return {
    /** Returns the id in the snapshot of a record that an operator names, if it can have one. */
    find(type: RecordType, given: string | number): number | undefined {
      if (translator) return translator.find(type, given);
      return typeof given === "number" ? given : undefined;
    },
    /** Replaces the keys in a record of the source by numbers. */
    translate: (record: RawRecord): void => translator?.translate(record),
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

const MAX_REMEMBERED = 100_000;

/** Opens and locks the file. A missing one is an empty map, which is written when it is committed. */
async function openIdMap(
  path: string,
  { readsOnly = false, waitMs, onWait }: OpenOptions,
): Promise<IdMap> {
  const isNew = hasNoKeys(path);
  const { $client: client } = isNew ? sqlite.openTemporary() : sqlite.openWritable(path);
  try {
    return await naming(path, readsOnly ? "read" : "write", async () => {
      client.exec(
        "PRAGMA busy_timeout = 0; PRAGMA cache_size = -32768; PRAGMA synchronous = EXTRA",
      );
      if (readsOnly) client.exec("BEGIN");
      const begin = readsOnly ? "SELECT 1 FROM sqlite_schema" : "BEGIN IMMEDIATE";
      await waitForLock(path, () => client.exec(begin), { waitMs, onWait });

      // Another program that looks up an id can delay the commit.
      client.exec("PRAGMA busy_timeout = 10000");
      if (!hasTables(client, path)) {
        if (readsOnly && !isNew) throw noIdMap(path);
        createTables(client);
      }
      return createMap(path, client, isNew);
    });
  } catch (error) {
    client.close();
    throw isDamagedDatabase(error) ? noIdMap(path) : error;
  }
}

type IdMap = ReturnType<typeof createMap>;

function createMap(path: string, client: Sqlite, isNew: boolean) {
  const tables = {
    role: prepareTable(client, "role"),
    achievement: prepareTable(client, "achievement"),
    company: prepareTable(client, "company"),
    user: prepareTable(client, "user"),
  };
  let hasNewKeys = false;

  /** Reading also writes new keys that no longer fit into SQLite's memory. */
  const namingMap = <Result>(use: () => Result): Result =>
    naming(path, hasNewKeys ? "write" : "read", use);

  function addKey(type: RecordType, key: string): number | undefined {
    hasNewKeys = true;
    return namingMap(() => tables[type].add.get(key)?.id);
  }

  /** Returns anything but a key unchanged. */
  function toId(type: RecordType, value: unknown): unknown {
    const { find, remembered } = tables[type];
    const known = remembered.get(value);
    if (known !== undefined) return known;
    const key = toKey(value);
    if (key === undefined) return value;

    const id = namingMap(() => find.get(key)?.id) ?? addKey(type, key);
    // Nothing refers to users.
    if (type !== "user" && id !== undefined) {
      if (remembered.size === MAX_REMEMBERED) remembered.clear();
      remembered.set(value, id);
    }
    return id;
  }

  function replaceId(type: RecordType, holder: unknown): void {
    if (typeof holder !== "object" || holder === null || !("id" in holder)) return;
    holder.id = toId(type, holder.id);
  }

  return {
    path,
    find(type: RecordType, value: unknown): number | undefined {
      const key = toKey(value);
      return key === undefined ? undefined : namingMap(() => tables[type].find.get(key)?.id);
    },
    findKey: ({ type, id }: RecordId) => namingMap(() => tables[type].findKey.get(id)?.key),

    /** Replaces the keys in a record. Other values remain, and validation rejects them. */
    translate(record: RawRecord): void {
      const type = recordTypes.find((known) => known === record.type);
      if (type === undefined) return;

      const { company, roles, achievements } = record;
      replaceId(type, record);
      replaceId("company", company);
      if (Array.isArray(roles)) record.roles = roles.map((role) => toId("role", role));
      if (Array.isArray(achievements)) {
        for (const unlocked of achievements) replaceId("achievement", unlocked);
      }
    },

    /** Adds a mark for the new keys, if any. Returns the last mark. Undefined if there are no keys. */
    addMark: () =>
      namingMap(() => {
        if (hasNewKeys) {
          const mark = Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("hex");
          client.prepare("INSERT INTO mark (mark) VALUES (?)").run(mark);
        }
        const last = "SELECT mark FROM mark ORDER BY id DESC";
        return client.prepare<{ mark: string }>(last).get()?.mark;
      }),

    hasMark(mark: string): boolean {
      const query = "SELECT 1 FROM mark WHERE mark = ?";
      return Boolean(namingMap(() => client.prepare(query).get(mark)));
    },
    /** Whether this map got `mark` after `other`. False if it lacks one of them. */
    isLater(mark = "", other = ""): boolean {
      const query =
        "SELECT 1 FROM mark WHERE mark = ? AND id > (SELECT id FROM mark WHERE mark = ?)";
      return Boolean(namingMap(() => client.prepare(query).get(mark, other)));
    },
    async commit(): Promise<void> {
      naming(path, "write", () => client.exec("COMMIT"));
      if (isNew && hasNewKeys) await writeNew(path, client);
    },
    [Symbol.dispose]: () => client.close(),
  };
}

/** Writes a new map. Only its owner can read it, because it has the keys of private users. */
function writeNew(path: string, client: Sqlite): Promise<void> {
  const write = async ({ next, current }: Paths) => {
    client.prepare("VACUUM INTO ?").run(next);
    if (!hasNoKeys(current))
      throw new Error(`another import has made ${path} meanwhile; try again`);
  };
  return replaceFile(path, write, { mode: 0o600, isLocked: false });
}

function hasNoKeys(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;
}

/** Prepares statements for the keys of one type. */
function prepareTable(client: Sqlite, type: RecordType) {
  return {
    find: client.prepare<{ id: number }>(`SELECT id FROM ${type} WHERE key = ?`),
    findKey: client.prepare<{ key: string }>(`SELECT key FROM ${type} WHERE id = ?`),
    add: client.prepare<{ id: number }>(`INSERT INTO ${type} (key) VALUES (?) RETURNING id`),
    /** The ids of values, as a source has them, to which many records may refer. */
    remembered: new Map<unknown, number>(),
  };
}

const noIdMap = (path: string) => new Error(`${path} is not an id map; choose another --id-map`);

/** Whether the tables exist. Throws if there are only another program's. */
function hasTables(client: Sqlite, path: string): boolean {
  const has = (condition: string) =>
    client.prepare(`SELECT 1 FROM sqlite_schema WHERE ${condition}`).get() !== undefined;
  if (has("name = 'mark'")) return true;
  if (has("TRUE")) throw noIdMap(path);
  return false;
}

function createTables(client: Sqlite): void {
  // With AUTOINCREMENT, an id stays taken even if somebody deletes its row.
  const columns = (name: string) =>
    `id INTEGER PRIMARY KEY AUTOINCREMENT, ${name} TEXT NOT NULL UNIQUE`;
  for (const type of recordTypes) client.exec(`CREATE TABLE ${type} (${columns("key")})`);
  client.exec(`CREATE TABLE mark (${columns("mark")})`);
}
