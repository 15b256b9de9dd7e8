/**
 * Owns the file that gives each key (an id of any kind, such as a UUID) an integer, and never
 * forgets a key. Snapshots have only the integers. Each batch of new keys gets a random mark, by
 * which a snapshot recognises its map; see owner-check.ts.
 */
import { randomBytes } from "node:crypto";
import { appendFileSync, rmSync, statSync } from "node:fs";
import { sqlite } from "#sqlite";
import { type RawRecord, type RecordKey, type RecordType, recordTypes } from "../domain/dataset.ts";
import { toKey } from "../domain/keys.ts";
import {
  codeOf,
  isDamagedDatabase,
  isFileSystemError,
  isLocked,
  reasonOf,
} from "../files/errors.ts";
import { type LockOptions, waitForLock } from "../files/lock.ts";
import type { Sqlite } from "../sqlite/driver.ts";
import { KeyTable } from "./key-table.ts";

interface OpenOptions extends LockOptions {
  /** Whether to create a file that does not exist, or to read it as an empty map. */
  createsMissing: boolean;
  /** Whether keys are only looked up, which another command that adds keys does not prevent. */
  readsOnly?: boolean | undefined;
}

/** Half of a mark, in hexadecimal digits. The first half is the same for all marks of a map. */
const HALF = 16;

/** "missing" is an empty map in memory, in place of a file that does not exist. */
type State = "missing" | "new" | "existing";

export class IdMap implements Disposable {
  readonly path: string;
  readonly #db: Sqlite;
  readonly #tables: Record<RecordType, KeyTable>;
  #state: State;
  #hasNewKeys = false;

  private constructor(path: string, db: Sqlite, state: State) {
    this.path = path;
    this.#db = db;
    this.#state = state;
    this.#tables = {
      role: new KeyTable(db, "role"),
      achievement: new KeyTable(db, "achievement"),
      company: new KeyTable(db, "company"),
      user: new KeyTable(db, "user"),
    };
  }

  /** Opens and locks the file. One that cannot be written can still be read. */
  static async open(path: string, options: OpenOptions): Promise<IdMap> {
    try {
      for (;;) {
        const map = await IdMap.#tryOpen(path, options);
        if (map) return map;
      }
    } catch (error) {
      if (isFileSystemError(error)) throw new Error(`cannot write ${path}: ${reasonOf(error)}`);
      if (!isDamagedDatabase(error)) throw error;
      throw noIdMap(path);
    }
  }

  /** Returns undefined if the file was removed or created while this waited for its lock. */
  static async #tryOpen(path: string, options: OpenOptions): Promise<IdMap | undefined> {
    const isNew = options.createsMissing && fileAt(path) === undefined;
    // The file has the keys of private users.
    if (options.createsMissing) appendFileSync(path, "", { mode: 0o600 });

    const file = fileAt(path);
    const { $client: db } = file === undefined ? sqlite.openMemory() : sqlite.openWritable(path);
    try {
      db.exec("PRAGMA busy_timeout = 0; PRAGMA cache_size = -32768; PRAGMA synchronous = EXTRA");
      // Another import that had the lock may have failed and removed the file that it had made.
      const isGone = () => fileAt(path) !== file;
      if (options.readsOnly) db.exec("BEGIN");
      const begin = options.readsOnly ? tryRead : tryBegin;
      await waitForLock(path, () => isGone() || begin(db), options);
      if (isGone()) {
        db.close();
        return undefined;
      }

      // Somebody who looks up an id can delay the commit.
      db.exec("PRAGMA busy_timeout = 10000");
      createTables(db, path, options.readsOnly);
      const found = file === undefined ? "missing" : "existing";
      return new IdMap(path, db, isNew ? "new" : found);
    } catch (error) {
      db.close();
      // A disk that is full has space for the name of a file, but not for the tables.
      if (isNew) rmSync(path);
      throw error;
    }
  }

  [Symbol.dispose](): void {
    try {
      // A failed import leaves no empty file. Others that wait for its lock notice.
      if (this.#state === "new") rmSync(this.path);
    } catch {
      // Windows cannot remove a file that is open.
    }
    this.#db.close();
  }

  find(type: RecordType, value: unknown): number | undefined {
    const key = toKey(value);
    return key === undefined ? undefined : this.#naming(() => this.#tables[type].find(key));
  }

  findKey({ type, id }: RecordKey): string | undefined {
    return this.#naming(() => this.#tables[type].findKey(id));
  }

  /** Replaces the keys in a record. Other values remain, and validation rejects them. */
  translate(record: RawRecord): void {
    const type = recordTypes.find((known) => known === record.type);
    if (type === undefined) return;

    this.#replaceId(type, record);
    this.#replaceId("company", record.company);
    const { roles, achievements } = record;
    if (Array.isArray(roles)) {
      record.roles = roles.map((role) => this.#toId(this.#tables.role, role));
    }
    if (Array.isArray(achievements)) {
      for (const unlocked of achievements) this.#replaceId("achievement", unlocked);
    }
  }

  /** Adds a mark for the new keys, if any. Returns the last mark. Undefined if there are no keys. */
  addMark(): string | undefined {
    const last = this.#lastMark();
    if (!this.#hasNewKeys) return last;

    const mark = (last?.slice(0, HALF) ?? randomDigits()) + randomDigits();
    this.#naming(() => this.#db.prepare("INSERT INTO mark (mark) VALUES (?)").run(mark));
    this.#hasNewKeys = false;
    return mark;
  }

  /** Whether this map got one mark after the other. False unless it has both. */
  isLater(mark: string, other: string): boolean {
    const number = this.#numberOf(mark);
    const otherNumber = this.#numberOf(other);
    return number !== undefined && otherNumber !== undefined && number > otherNumber;
  }

  /** Why this is not the map of a snapshot that has `mark`, if it is not. */
  findMismatch(mark: string): "missing" | "empty" | "another" | "older" | undefined {
    if (this.#numberOf(mark) !== undefined) return undefined;
    if (this.#state === "missing") return "missing";
    const last = this.#lastMark();
    if (last === undefined) return "empty";
    return last.slice(0, HALF) === mark.slice(0, HALF) ? "older" : "another";
  }

  commit(): void {
    this.#naming(() => this.#db.exec("COMMIT"), "write");
    this.#state = "existing";
  }

  #lastMark(): string | undefined {
    const query = "SELECT mark FROM mark ORDER BY id DESC";
    return this.#naming(() => this.#db.prepare<{ mark: string }>(query).get()?.mark);
  }

  #numberOf(mark: string): number | undefined {
    const query = "SELECT id FROM mark WHERE mark = ?";
    return this.#naming(() => this.#db.prepare<{ id: number }>(query).get(mark)?.id);
  }

  #replaceId(type: RecordType, holder: unknown): void {
    if (typeof holder !== "object" || holder === null || !("id" in holder)) return;
    holder.id = this.#toId(this.#tables[type], holder.id);
  }

  /** Returns anything but a key unchanged. */
  #toId(table: KeyTable, value: unknown): unknown {
    const known = table.recall(value);
    if (known !== undefined) return known;
    const key = toKey(value);
    if (key === undefined) return value;

    const id = this.#naming(() => table.find(key)) ?? this.#add(table, key);
    if (id !== undefined) table.remember(value, id);
    return id;
  }

  #add(table: KeyTable, key: string): number | undefined {
    this.#hasNewKeys = true;
    return this.#naming(() => table.add(key));
  }

  /**
   * Names this file in an error, because its disk may not be the snapshot's. Reading also writes new
   * keys that no longer fit into SQLite's memory.
   */
  #naming<Result>(use: () => Result, verb = this.#hasNewKeys ? "write" : "read"): Result {
    try {
      return use();
    } catch (error) {
      throw new Error(`cannot ${verb} ${this.path}: ${reasonOf(error)}`);
    }
  }
}

/** Returns the number by which the system knows the file. Undefined if there is none. */
const fileAt = (path: string) => statSync(path, { throwIfNoEntry: false })?.ino;

/** Begins a transaction, unless another command has begun one. */
function tryBegin(db: Sqlite): true | undefined {
  try {
    return tryLock(db, "BEGIN IMMEDIATE");
  } catch (error) {
    if (!codeOf(error).startsWith("SQLITE_READONLY")) throw error;
    // Without new keys, nothing has to be written.
    db.exec("BEGIN");
    return true;
  }
}

/** Begins to read in a transaction, unless another command is committing. */
const tryRead = (db: Sqlite) => tryLock(db, "SELECT 1 FROM sqlite_schema");

/** Runs a statement that takes a lock. Returns undefined if another command's lock prevents it. */
function tryLock(db: Sqlite, statement: string): true | undefined {
  try {
    db.exec(statement);
    return true;
  } catch (error) {
    if (isLocked(error)) return undefined;
    throw error;
  }
}

const noIdMap = (path: string) => new Error(`${path} is not an id map; choose another --id-map`);

/**
 * Creates the tables, unless they exist. Throws if there are only another program's. With
 * `readsOnly`, the file stays empty.
 */
function createTables(db: Sqlite, path: string, readsOnly = false): void {
  const has = (condition: string) =>
    db.prepare(`SELECT 1 FROM sqlite_schema WHERE ${condition}`).get() !== undefined;
  if (has("name = 'mark'")) return;
  if (has("TRUE")) throw noIdMap(path);
  // With AUTOINCREMENT, an id stays taken even if somebody deletes its row.
  const columns = (name: string) =>
    `id INTEGER PRIMARY KEY AUTOINCREMENT, ${name} TEXT NOT NULL UNIQUE`;
  const create = readsOnly ? "CREATE TEMP TABLE" : "CREATE TABLE";
  for (const type of recordTypes) db.exec(`${create} ${type} (${columns("key")})`);
  db.exec(`${create} mark (${columns("mark")})`);
}

const randomDigits = () => randomBytes(HALF / 2).toString("hex");
