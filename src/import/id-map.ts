/**
 * Owns the file that gives each key (an id of any kind, such as a UUID) an integer, and never forgets
 * a key. Snapshots have only the integers. Each batch of new keys gets a random mark, by which a
 * snapshot recognises its map; see ids.ts.
 */
import { statSync } from "node:fs";
import { sqlite } from "#sqlite";
import { type RawRecord, type RecordKey, type RecordType, recordTypes } from "../domain/dataset.ts";
import { toKey } from "../domain/keys.ts";
import { isDamagedDatabase, named, naming } from "../files/errors.ts";
import { type LockOptions, waitForLock } from "../files/lock.ts";
import { replaceFile } from "../files/replace.ts";
import type { Sqlite } from "../sqlite/driver.ts";

interface MapOptions extends LockOptions {
  /** Whether keys are only looked up, which another command that adds keys does not prevent. */
  readsOnly?: boolean;
}

const MAX_REMEMBERED = 100_000;

/** Opens and locks the file. A missing one is an empty map, which is written when it is committed. */
export async function openIdMap(
  path: string,
  { readsOnly = false, ...waiting }: MapOptions,
): Promise<IdMap> {
  const isNew = hasNoKeys(path);
  const { $client: db } = isNew ? sqlite.openTemporary() : sqlite.openWritable(path);
  try {
    return await naming(path, readsOnly ? "read" : "write", async () => {
      db.exec("PRAGMA busy_timeout = 0; PRAGMA cache_size = -32768; PRAGMA synchronous = EXTRA");
      if (readsOnly) db.exec("BEGIN");
      const begin = readsOnly ? "SELECT 1 FROM sqlite_schema" : "BEGIN IMMEDIATE";
      await waitForLock(path, () => db.exec(begin), waiting);

      // Somebody who looks up an id can delay the commit.
      db.exec("PRAGMA busy_timeout = 10000");
      createTables(db, path);
      return createMap(path, db, isNew);
    });
  } catch (error) {
    db.close();
    throw isDamagedDatabase(error) ? noIdMap(path) : error;
  }
}

export type IdMap = ReturnType<typeof createMap>;

function createMap(path: string, db: Sqlite, isNew: boolean) {
  const tables = {
    role: prepareTable(db, "role"),
    achievement: prepareTable(db, "achievement"),
    company: prepareTable(db, "company"),
    user: prepareTable(db, "user"),
  };
  let hasNewKeys = false;

  /** Reading also writes new keys that no longer fit into SQLite's memory. */
  function using<Result>(use: () => Result): Result {
    try {
      return use();
    } catch (error) {
      throw named(path, hasNewKeys ? "write" : "read", error);
    }
  }

  /** Returns anything but a key unchanged. */
  function toId(type: RecordType, value: unknown): unknown {
    const { find, add, remembered } = tables[type];
    const known = remembered.get(value);
    if (known !== undefined) return known;
    const key = toKey(value);
    if (key === undefined) return value;

    const id = using(() => {
      const found = find.get(key);
      hasNewKeys ||= !found;
      return (found ?? add.get(key))?.id;
    });
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
      return key === undefined ? undefined : using(() => tables[type].find.get(key)?.id);
    },
    findKey: ({ type, id }: RecordKey) => using(() => tables[type].findKey.get(id)?.key),

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
      using(() => {
        if (hasNewKeys) {
          const mark = Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("hex");
          db.prepare("INSERT INTO mark (mark) VALUES (?)").run(mark);
        }
        const last = "SELECT mark FROM mark ORDER BY id DESC";
        return db.prepare<{ mark: string }>(last).get()?.mark;
      }),

    /** Returns which of the marks of this map one is, from 1. Undefined if it is another map's. */
    findMark(mark: string): number | undefined {
      const query = "SELECT id FROM mark WHERE mark = ?";
      return using(() => db.prepare<{ id: number }>(query).get(mark)?.id);
    },
    async commit(): Promise<void> {
      naming(path, "write", () => db.exec("COMMIT"));
      if (isNew && hasNewKeys) await writeNew(path, db);
    },
    [Symbol.dispose]: () => db.close(),
  };
}

/** Writes a new map. Only its owner can read it, because it has the keys of private users. */
function writeNew(path: string, db: Sqlite): Promise<void> {
  return replaceFile(
    path,
    async ({ next, old, commit }) => {
      db.prepare("VACUUM INTO ?").run(next);
      if (!hasNoKeys(old)) throw new Error(`another import has made ${path} meanwhile; try again`);
      await commit();
    },
    { mode: 0o600 },
  );
}

function hasNoKeys(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;
}

/** Prepares statements for the keys of one type. */
function prepareTable(db: Sqlite, type: RecordType) {
  return {
    find: db.prepare<{ id: number }>(`SELECT id FROM ${type} WHERE key = ?`),
    findKey: db.prepare<{ key: string }>(`SELECT key FROM ${type} WHERE id = ?`),
    add: db.prepare<{ id: number }>(`INSERT INTO ${type} (key) VALUES (?) RETURNING id`),
    /** The ids of values, as a source has them, to which many records may refer. */
    remembered: new Map<unknown, number>(),
  };
}

const noIdMap = (path: string) => new Error(`${path} is not an id map; choose another --id-map`);

/** Creates the tables, unless they exist. Throws if there are only another program's. */
function createTables(db: Sqlite, path: string): void {
  const has = (condition: string) =>
    db.prepare(`SELECT 1 FROM sqlite_schema WHERE ${condition}`).get() !== undefined;
  if (has("name = 'mark'")) return;
  if (has("TRUE")) throw noIdMap(path);
  // With AUTOINCREMENT, an id stays taken even if somebody deletes its row.
  const columns = (name: string) =>
    `id INTEGER PRIMARY KEY AUTOINCREMENT, ${name} TEXT NOT NULL UNIQUE`;
  for (const type of recordTypes) db.exec(`CREATE TABLE ${type} (${columns("key")})`);
  db.exec(`CREATE TABLE mark (${columns("mark")})`);
}

/** Returns why a snapshot with this mark was not made with this map, and what to do. */
export function findMismatch(
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
