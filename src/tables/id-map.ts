/**
 * Owns the file that gives each key (an id of any kind, such as a UUID) an integer, and never
 * forgets a key. Snapshots have only the integers.
 */
import { appendFileSync, existsSync } from "node:fs";
import { sqlite } from "#sqlite";
import { type RawRecord, type RecordKey, recordTypes } from "../domain/dataset.ts";
import { toKey } from "../domain/validation-errors.ts";
import { codeOf, isFileSystemError, reasonOf } from "../files/errors.ts";
import { type LockOptions, waitForLock } from "../files/lock.ts";
import type { Sqlite } from "../sqlite/driver.ts";

export interface IdMapOptions {
  /** The file that maps ids of any kind to integers. Without it, ids must be integers. */
  idMap?: string | undefined;
}

type Kind = RecordKey["type"];
const MAX_CACHED = 100_000;

/**
 * Opens and locks the file, and creates it unless this is a dry run. If the file has no ids yet,
 * those in the snapshot `replaced` have been lost, which is an error.
 */
export async function openIdMap(
  options: IdMapOptions & LockOptions & { dryRun?: boolean | undefined },
  replaced: string | undefined,
): Promise<IdMap | undefined> {
  const { idMap: path, dryRun } = options;
  if (path === undefined) return undefined;
  let db: Sqlite | undefined;
  try {
    // The file has the keys of private users. A failed import leaves an empty file, because another
    // import may be waiting for its lock.
    if (!dryRun) appendFileSync(path, "", { mode: 0o600 });
    const { $client } = sqlite.openWritable(dryRun && !existsSync(path) ? ":memory:" : path);
    db = $client;
    $client.exec("PRAGMA busy_timeout = 0; PRAGMA cache_size = -32768; PRAGMA synchronous = EXTRA");
    await waitForLock(path, () => tryBegin($client), options);
    // Somebody who looks up an id can delay the commit.
    $client.exec("PRAGMA busy_timeout = 10000");
    if (createTables($client) && replaced !== undefined) {
      const risk = `everybody in ${replaced} would get a new id`;
      throw new Error(`${path} has no ids yet, so ${risk}; restore it, or import with --force`);
    }
    return new IdMap($client);
  } catch (error) {
    db?.close();
    if (isFileSystemError(error)) throw new Error(`cannot write ${path}: ${reasonOf(error)}`);
    if (!codeOf(error).startsWith("SQLITE_")) throw error;
    throw new Error(`${path} is not an id map; choose another --id-map`);
  }
}

/** Begins a transaction unless another command has begun one. */
function tryBegin(db: Sqlite): true | undefined {
  try {
    db.exec("BEGIN IMMEDIATE");
    return true;
  } catch (error) {
    if (codeOf(error).startsWith("SQLITE_BUSY")) return undefined;
    throw error;
  }
}

/** Creates the tables unless there are tables, which may be another program's. */
function createTables(db: Sqlite): boolean {
  if (db.prepare("SELECT 1 FROM sqlite_schema").get()) return false;
  // With AUTOINCREMENT, an id stays taken even if somebody deletes its row.
  const columns = "id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE";
  for (const kind of recordTypes) db.exec(`CREATE TABLE ${kind} (${columns})`);
  return true;
}

export class IdMap implements Disposable {
  private readonly db: Sqlite;
  private readonly kinds;

  constructor(db: Sqlite) {
    this.db = db;
    const prepare = (kind: Kind) => ({
      /** The ids of keys that many records refer to. */
      cached: new Map<string, number>(),
      find: db.prepare<{ id: number }>(`SELECT id FROM ${kind} WHERE key = ?`),
      add: db.prepare<{ id: number }>(`INSERT INTO ${kind} (key) VALUES (?) RETURNING id`),
      findKey: db.prepare<{ key: string }>(`SELECT key FROM ${kind} WHERE id = ?`),
    });
    const pairs = recordTypes.map((kind) => [kind, prepare(kind)]);
    this.kinds = Object.fromEntries(pairs) as Record<Kind, ReturnType<typeof prepare>>;
  }

  find(kind: Kind, value: unknown): number | undefined {
    const key = toKey(value);
    return key === undefined ? undefined : this.kinds[kind].find.get(key)?.id;
  }

  findKey({ type, id }: RecordKey): string | undefined {
    return this.kinds[type].findKey.get(id)?.key;
  }

  /** Replaces the keys in a record. Other values remain, and validation rejects them. */
  translate(record: RawRecord): void {
    const kind = recordTypes.find((type) => type === record.type);
    if (kind === undefined) return;
    this.replaceId(kind, record);
    this.replaceId("company", record.company);
    const { roles, achievements } = record;
    if (Array.isArray(roles)) record.roles = roles.map((role) => this.toId("role", role));
    if (!Array.isArray(achievements)) return;
    for (const unlocked of achievements) this.replaceId("achievement", unlocked);
  }

  /** The last id of a user, or 0. */
  lastUser(): number {
    return this.db.prepare<{ id: number | null }>("SELECT max(id) AS id FROM user").get()?.id ?? 0;
  }

  commit(): void {
    this.db.exec("COMMIT");
  }

  [Symbol.dispose](): void {
    this.db.close();
  }

  private replaceId(kind: Kind, holder: unknown): void {
    if (typeof holder !== "object" || holder === null || !("id" in holder)) return;
    holder.id = this.toId(kind, holder.id);
  }

  private toId(kind: Kind, value: unknown): unknown {
    const key = toKey(value);
    if (key === undefined) return value;
    const { cached, find, add } = this.kinds[kind];
    const known = cached.get(key);
    if (known !== undefined) return known;
    const { id } = find.get(key) ?? add.get(key) ?? {};
    if (id === undefined || kind === "user") return id;
    if (cached.size === MAX_CACHED) cached.clear();
    cached.set(key, id);
    return id;
  }
}

/** Returns the id of a record as its source has it, for messages. */
export function idInSource(record: RecordKey, map: IdMap | undefined): string | number {
  return map?.findKey(record) ?? record.id;
}
