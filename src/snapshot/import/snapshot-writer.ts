/**
 * Owns a snapshot that is being written: its database, and the order in which it is finished.
 * Nothing needs to be durable before that, because the database is discarded after a crash.
 */
import { sql } from "drizzle-orm";
import { sqlite } from "#sqlite";
import { formatTime } from "../../domain/time.ts";
import { version } from "../../domain/version.ts";
import { moveWork, type Paths } from "../../files/replace.ts";
import type { Database } from "../../sqlite/driver.ts";
import { forgetTerms, overwriteDeleted } from "../format/forget.ts";
import { finishBytes, finishFile } from "../format/header-trailer.ts";
import { type Meta, writeMeta } from "../format/meta.ts";
import { createIndexes, createSchema } from "../format/schema.ts";
import { divideSitemap } from "../format/sitemap-pages.ts";

/** If fewer pages are free, a change leaves the other blocks as they are. */
const MAX_FREE_SHARE = 1 / 8;

type Facts = Omit<Meta, "built_at" | "roadbook_version">;

export class SnapshotWriter implements Disposable {
  /** In a transaction until {@link finish}. The snapshot to compare it with is attached as `old`. */
  readonly db: Database;
  readonly #isNew: boolean;
  #isOpen = true;

  private constructor(db: Database, old: string | undefined, isNew: boolean) {
    this.db = db;
    this.#isNew = isNew;
    try {
      // A killed process must not leave a journal file, which SQLite would later apply to another
      // database. `journal_mode = OFF` would also work, but Bun's SQLite silently ignores it.
      this.db.$client.exec(`PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;
        PRAGMA temp_store = MEMORY; PRAGMA cache_size = -32768`);
      overwriteDeleted(this.db.$client);
      if (old !== undefined) this.db.run(sql`ATTACH ${old} AS old`);
      this.db.$client.exec("BEGIN");
      if (isNew) createSchema(this.db.$client);
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  /** Begins a snapshot without rows in an empty file, or in one that nobody keeps. */
  static create(file: string | undefined, old: string | undefined): SnapshotWriter {
    const db = file === undefined ? sqlite.openTemporary() : sqlite.openWritable(file);
    return new SnapshotWriter(db, old, true);
  }

  /** Continues a copy of the snapshot file `old`. */
  static change(copy: string, old: string): SnapshotWriter {
    return new SnapshotWriter(sqlite.openWritable(copy), old, false);
  }

  static createInMemory(): SnapshotWriter {
    return new SnapshotWriter(sqlite.openMemory(), undefined, true);
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
   * Adds what follows from the rows, commits, and removes what is left of deleted rows. The rows and
   * the name indexes must be complete.
   */
  finish(facts: Facts, builtAtMs: number): void {
    const built_at = formatTime(Math.floor(builtAtMs / 1000));
    writeMeta(this.db, { built_at, roadbook_version: version, ...facts });
    createIndexes(this.db.$client);
    divideSitemap(this.db.$client);

    this.db.$client.exec("COMMIT");
    forgetTerms(this.db.$client);
  }

  /** Makes the finished database, which is the file `work`, the snapshot `path`. Returns its checksum. */
  async toFile(paths: Pick<Paths, "work" | "path">): Promise<string> {
    const isCopied = this.#isNew || this.#hasManyFreePages();
    // Copies rows, not pages, so free pages and what they may hold are left behind.
    if (isCopied) this.db.run(sql`VACUUM INTO ${paths.path}`);
    this[Symbol.dispose]();
    if (!isCopied) moveWork(paths);

    return await finishFile(paths.path);
  }

  /** Returns the finished database, which is in memory, as the bytes of a snapshot. */
  toBytes(): Uint8Array {
    this.db.$client.exec("VACUUM");
    return finishBytes(this.db.$client.serialize());
  }

  /** Whether so many pages are free that they should not be copied with each further change. */
  #hasManyFreePages(): boolean {
    const [row] = this.db.values<[free: number, all: number]>(
      "SELECT freelist_count, page_count FROM pragma_freelist_count, pragma_page_count",
    );
    const [free, all] = row ?? [0, 0];
    return free > all * MAX_FREE_SHARE;
  }
}
