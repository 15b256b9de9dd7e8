/**
 * Owns a snapshot that is being written: its database, and the order in which it is finished.
 * Nothing needs to be durable before that, because the database is discarded after a crash.
 */
import { setImmediate } from "node:timers/promises";
import { sql } from "drizzle-orm";
import { version } from "../domain/constants.ts";
import { nameKinds } from "../domain/model.ts";
import { formatTime } from "../domain/time.ts";
import type { Paths } from "../files/replace.ts";
import { buildNameIndex } from "../search/name-index.ts";
import { type Summary, writeMeta } from "../snapshot/format/meta.ts";
import { checkSnapshot, verifyFile } from "../snapshot/format/open.ts";
import { createIndexes, createSchema } from "../snapshot/format/schema.ts";
import { PAGE_BYTES, sealBytes, sealFile } from "../snapshot/format/seal.ts";
import type { Database } from "../sqlite/driver.ts";
import type { Ids } from "./ids.ts";
import type { ImportOptions } from "./options.ts";

/** If fewer pages are free, a change leaves the other blocks as they are. */
const MAX_FREE_SHARE = 1 / 8;

export class SnapshotWriter implements Disposable {
  /** In a transaction until it is finished. The snapshot to compare it with is attached as `old`. */
  readonly db: Database;
  readonly builtAtMs: number;
  readonly #isNew: boolean;
  #isOpen = true;

  /** Begins a snapshot in an empty database, or continues a copy of one in a database with rows. */
  constructor(
    db: Database,
    { builtAtMs, isNew, old }: { builtAtMs: number; isNew: boolean; old?: string | undefined },
  ) {
    this.db = db;
    this.builtAtMs = builtAtMs;
    this.#isNew = isNew;
    const { $client } = db;
    // A killed process must not leave a journal file, which SQLite would later apply to another
    // database. Without any journal, a statement that fails would leave its first changes.
    $client.exec(`PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;
      PRAGMA temp_store = MEMORY; PRAGMA cache_size = -32768; PRAGMA page_size = ${PAGE_BYTES}`);
    // Overwrites with zeros whatever is deleted; see seal.ts.
    $client.exec("PRAGMA secure_delete = ON");
    if (old !== undefined) db.run(sql`ATTACH ${old} AS old`);
    $client.exec("BEGIN");
    if (isNew) createSchema($client);
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
    { next, work }: Paths,
    ids: Ids,
    summary: Summary,
    onIndexed?: ImportOptions["onIndexed"],
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
    const [row] = this.db.values<[isMany: number]>(
      `SELECT freelist_count > page_count * ${MAX_FREE_SHARE}
        FROM pragma_freelist_count, pragma_page_count`,
    );
    return row?.[0] === 1;
  }

  /** Adds what follows from the rows, and commits. */
  async #finish(ids: Ids, summary: Summary, onIndexed?: ImportOptions["onIndexed"]): Promise<void> {
    const { $client } = this.db;
    // Before the indexes, which take long, because the id map may be on a full disk.
    const id_map = ids.addMark();
    // A change brings the indexes of a copy in line itself.
    for (const kind of this.#isNew ? nameKinds : []) {
      for (const done of buildNameIndex($client, kind)) {
        if (kind === "user") onIndexed?.(done / summary.counts.public_users);
        // Lets the event loop handle pending signals.
        await setImmediate();
      }
    }

    const built_at = formatTime(Math.floor(this.builtAtMs / 1000));
    writeMeta(this.db, { built_at, roadbook_version: version, ...summary, id_map });
    createIndexes($client);
    $client.exec("COMMIT");
  }
}
