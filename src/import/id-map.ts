/**
 * The id map: a file that gives each key (an id of any kind, such as a UUID) an integer. ../domain/README.md
 * says what its marks are for.
 */
import { statSync } from "node:fs";
import { sqlite } from "#sqlite";
import { type RawRecord, type RecordId, type RecordType, recordTypes } from "../domain/records.ts";
import { toKey } from "../domain/source-ids.ts";
import { isDamagedDatabase, naming } from "../files/errors.ts";
import { type LockOptions, waitForLock } from "../files/lock.ts";
import { type Paths, replaceFile } from "../files/replace.ts";
import type { Sqlite } from "../sqlite/driver.ts";

interface OpenOptions extends LockOptions {
  /** Whether keys are only looked up. Then, another command may add keys meanwhile. */
  readsOnly?: boolean;
}

/**
 * Opens and locks the file, if there is a path. A missing one is an empty map, which is written when it
 * is committed.
 */
export async function openIdMap(
  path: string | undefined,
  { readsOnly = false, waitMs, onWait }: OpenOptions = {},
): Promise<IdMap | undefined> {
  if (path === undefined) return undefined;
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

export type IdMap = ReturnType<typeof createMap>;

function createMap(path: string, client: Sqlite, isNew: boolean) {
  const statements = {
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
    return namingMap(() => statements[type].add.get(key)?.id);
  }

  /** Returns anything but a key unchanged. */
  function toId(type: RecordType, value: unknown): unknown {
    const { find, remembered } = statements[type];
    const known = remembered.get(value);
    if (known !== undefined) return known;
    const key = toKey(value);
    if (key === undefined) return value;

    const id = namingMap(() => find.get(key)?.id) ?? addKey(type, key);
    const isFrequent = type === "role" || type === "achievement";
    if (isFrequent && id !== undefined) remembered.set(value, id);
    return id;
  }

  /** Replaces the key in an object that refers to a record. */
  function withId(type: RecordType, holder: unknown): unknown {
    if (typeof holder !== "object" || holder === null || !("id" in holder)) return holder;
    return { ...holder, id: toId(type, holder.id) };
  }

  return {
    path,
    findUser(given: string | number): number | undefined {
      const key = toKey(given);
      return key === undefined ? undefined : namingMap(() => statements.user.find.get(key)?.id);
    },
    findKey: ({ type, id }: RecordId) => namingMap(() => statements[type].findKey.get(id)?.key),

    /** Returns a record with ids instead of keys. Other values remain, and validation rejects them. */
    translate(record: RawRecord): RawRecord {
      const type = recordTypes.find((known) => known === record.type);
      if (type === undefined) return record;

      const translated = { ...record };
      const { id, company, roles, achievements } = record;
      if (id !== undefined) translated.id = toId(type, id);
      if (company !== undefined) translated.company = withId("company", company);
      if (Array.isArray(roles)) translated.roles = roles.map((role) => toId("role", role));
      if (Array.isArray(achievements)) {
        translated.achievements = achievements.map((unlock) => withId("achievement", unlock));
      }
      return translated;
    },

    /** Adds a mark for the new keys, if any. Returns the last mark. Undefined if there are no keys. */
    addMark: () =>
      namingMap(() => {
        if (hasNewKeys) client.exec("INSERT INTO mark (mark) VALUES (lower(hex(randomblob(16))))");
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
    /** The ids of values, as a source has them. Only of types that have few records, to which many users refer. */
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
