/** One table of an id map: the keys of all records of one type, and the integers that they have. */
import type { RecordType } from "../domain/dataset.ts";
import type { Sqlite, Statement } from "../sqlite/driver.ts";

const MAX_REMEMBERED = 100_000;

export class KeyTable {
  readonly #type: RecordType;
  readonly #find: Statement<{ id: number }>;
  readonly #findKey: Statement<{ key: string }>;
  readonly #add: Statement<{ id: number }>;
  /** The ids of values that were looked up before. */
  readonly #remembered = new Map<unknown, number>();

  constructor(db: Sqlite, type: RecordType) {
    this.#type = type;
    this.#find = db.prepare(`SELECT id FROM ${type} WHERE key = ?`);
    this.#findKey = db.prepare(`SELECT key FROM ${type} WHERE id = ?`);
    this.#add = db.prepare(`INSERT INTO ${type} (key) VALUES (?) RETURNING id`);
  }

  find(key: string): number | undefined {
    return this.#find.get(key)?.id;
  }

  findKey(id: number): string | undefined {
    return this.#findKey.get(id)?.key;
  }

  add(key: string): number | undefined {
    return this.#add.get(key)?.id;
  }

  /** Remembers the id of a value, as a source has it, to which many records may refer. */
  remember(value: unknown, id: number): void {
    // Nothing refers to users.
    if (this.#type === "user") return;

    if (this.#remembered.size === MAX_REMEMBERED) this.#remembered.clear();
    this.#remembered.set(value, id);
  }

  recall(value: unknown): number | undefined {
    return this.#remembered.get(value);
  }
}
