/**
 * Owns a snapshot that is being written: its database, and the order in which it is finished.
 * Nothing needs to be durable before that, because the database is discarded after a crash.
 */
import { setImmediate } from "node:timers/promises";
import { sql } from "drizzle-orm";
import { sqlite } from "#sqlite";
import { nameKinds } from "../domain/model.ts";
import { formatTime } from "../domain/time.ts";
import { version } from "../domain/version.ts";
import type { Paths } from "../files/replace.ts";
import { buildNameIndex } from "../search/name-index.ts";
import { writeMeta } from "../snapshot/format/meta.ts";
import { checkSnapshot, verifyFile } from "../snapshot/format/open.ts";
import { createIndexes, createSchema } from "../snapshot/format/schema.ts";
import { PAGE_BYTES, sealBytes, sealFile } from "../snapshot/format/seal.ts";
import type { Database } from "../sqlite/driver.ts";
import type { Ids } from "./ids.ts";
import type { Summary } from "./summary.ts";

/** If fewer pages are free, a change leaves the other blocks as they are. */
const MAX_FREE_SHARE = 1 / 8;

export interface BuildTime {
  /**
   * The time of the build, which dates takedowns, ends holds and shows what is in the future. Defaults
   * to now.
   */
  builtAtMs?: number | undefined;
}

export interface FinishOptions {
  /** Called repeatedly while the index of user names is built, with the progress (0 to 1). */
  onIndexed?: ((share: number) => void) | undefined;
}

export class SnapshotWriter implements Disposable {
  /** In a transaction until it is finished. The snapshot to compare it with is attached as `old`. */
  readonly db: Database;
  readonly builtAtMs: number;
  readonly #isNew: boolean;
  #isOpen = true;

  private constructor(
    db: Database,
    old: string | undefined,
    isNew: boolean,
    builtAtMs = Date.now(),
  ) {
    this.db = db;
    this.builtAtMs = builtAtMs;
    this.#isNew = isNew;
    try {
      // A killed process must not leave a journal file, which SQLite would later apply to another
      // database. `journal_mode = OFF` would also work, but Bun's SQLite silently ignores it.
      this.db.$client.exec(`PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;
        PRAGMA temp_store = MEMORY; PRAGMA cache_size = -32768; PRAGMA page_size = ${PAGE_BYTES}`);
      // Overwrites with zeros whatever is deleted; see seal.ts.
      this.db.$client.exec("PRAGMA secure_delete = ON");
      if (old !== undefined) this.db.run(sql`ATTACH ${old} AS old`);
      this.db.$client.exec("BEGIN");
      if (isNew) createSchema(this.db.$client);
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  /** Begins a snapshot without rows in an empty file, or in one that nobody keeps. */
  static create(
    file: string | undefined,
    old: string | undefined,
    builtAtMs: number,
  ): SnapshotWriter {
    const db = file === undefined ? sqlite.openTemporary() : sqlite.openWritable(file);
    return new SnapshotWriter(db, old, true, builtAtMs);
  }

  /** Continues a copy of the snapshot file `old`. */
  static change(copy: string, old: string, builtAtMs?: number): SnapshotWriter {
    return new SnapshotWriter(sqlite.openWritable(copy), old, false, builtAtMs);
  }

  static createInMemory(builtAtMs?: number): SnapshotWriter {
    return new SnapshotWriter(sqlite.openMemory(), undefined, true, builtAtMs);
  }

  /** Continues a copy of the bytes of a database. */
  static changeInMemory(bytes: Uint8Array): SnapshotWriter {
    return new SnapshotWriter(sqlite.openMemory(bytes), undefined, false);
  }

  [Symbol.dispose](): void {
    if (this.#isOpen) this.db.$client.close();
    this.#isOpen = false;
  }

  /**
   * Makes the database, whose rows are complete, a snapshot: in its file, which is `work`, or as a
   * copy in `next`. Returns the checksum. Commits the id map, so that no id is lost that the snapshot
   * will serve.
   */
  async toFile(
    { next, work }: Pick<Paths, "next" | "work">,
    ids: Ids,
    summary: Summary,
    { onIndexed }: FinishOptions = {},
  ): Promise<string> {
    await this.#finish(ids, summary, onIndexed);
    const isCopied = this.#isNew || this.#hasManyFreePages();
    // Copies rows, not pages, so free pages are left behind.
    if (isCopied) this.db.run(sql`VACUUM INTO ${next}`);
    this[Symbol.dispose]();

    const file = isCopied ? next : work;
    const sha256 = await sealFile(file);
    // Detects bugs in how a snapshot is built. A takedown does not wait for SQLite's own checks.
    await (this.#isNew ? checkSnapshot(file) : verifyFile(file));
    ids.commit();
    return sha256;
  }

  /** Returns the database, which is in memory and whose rows are complete, as a snapshot. */
  async toBytes(ids: Ids, summary: Summary): Promise<Uint8Array> {
    await this.#finish(ids, summary);
    this.db.$client.exec("VACUUM");
    return sealBytes(this.db.$client.serialize());
  }

  /** Whether free pages take so much of the file that copying them with each change is a waste. */
  #hasManyFreePages(): boolean {
    const [row] = this.db.values<[free: number, all: number]>(
      "SELECT freelist_count, page_count FROM pragma_freelist_count, pragma_page_count",
    );
    const [free, all] = row ?? [0, 0];
    return free > all * MAX_FREE_SHARE;
  }

  /** Adds what follows from the rows, and commits. */
  async #finish(ids: Ids, summary: Summary, onIndexed?: FinishOptions["onIndexed"]): Promise<void> {
    // Before the indexes, which take long, because the id map may be on a full disk.
    const id_map = ids.addMark();
    // A change brings the indexes of a copy in line itself.
    if (this.#isNew) await indexNames(this.db, summary.counts.public_users, onIndexed);

    const built_at = formatTime(Math.floor(this.builtAtMs / 1000));
    writeMeta(this.db, { built_at, roadbook_version: version, ...summary, id_map });
    createIndexes(this.db.$client);

    this.db.$client.exec("COMMIT");
  }
}

async function indexNames(
  db: Database,
  users: number,
  onIndexed: FinishOptions["onIndexed"],
): Promise<void> {
  for (const kind of nameKinds) {
    for (const done of buildNameIndex(db.$client, kind)) {
      if (kind === "user") onIndexed?.(done / users);
      // Lets the event loop handle pending signals.
      await setImmediate();
    }
  }
}
