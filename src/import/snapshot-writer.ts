/**
 * Owns a snapshot that is being written: its database, and the order in which it is finished.
 * Nothing needs to be durable before that, because the database is discarded after a crash.
 */
import { setImmediate } from "node:timers/promises";
import { sql } from "drizzle-orm";
import { nameKinds } from "../domain/model.ts";
import { formatTime } from "../domain/time.ts";
import { version } from "../domain/version.ts";
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

export type SnapshotWriter = ReturnType<typeof createSnapshotWriter>;

/** Begins a snapshot in an empty database, or continues a copy of one in a database with rows. */
export function createSnapshotWriter(
  db: Database,
  { builtAtMs, isNew, old }: { builtAtMs: number; isNew: boolean; old?: string | undefined },
) {
  const { $client } = db;
  let isOpen = true;
  // A killed process must not leave a journal file, which SQLite would later apply to another
  // database. Without any journal, a statement that fails would leave its first changes.
  $client.exec(`PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;
    PRAGMA temp_store = MEMORY; PRAGMA cache_size = -32768; PRAGMA page_size = ${PAGE_BYTES}`);
  // Overwrites with zeros whatever is deleted; see seal.ts.
  $client.exec("PRAGMA secure_delete = ON");
  if (old !== undefined) db.run(sql`ATTACH ${old} AS old`);
  $client.exec("BEGIN");
  if (isNew) createSchema($client);

  function close(): void {
    if (isOpen) $client.close();
    isOpen = false;
  }

  function hasManyFreePages(): boolean {
    const [row] = db.values<[isMany: number]>(
      `SELECT freelist_count > page_count * ${MAX_FREE_SHARE}
        FROM pragma_freelist_count, pragma_page_count`,
    );
    return row?.[0] === 1;
  }

  /** Adds what follows from the rows, and commits. */
  async function finish(ids: Ids, summary: Summary, onIndexed?: ImportOptions["onIndexed"]) {
    // Before the indexes, which take long, because the id map may be on a full disk.
    const id_map = ids.addMark();
    // A change brings the indexes of a copy in line itself.
    for (const kind of isNew ? nameKinds : []) {
      for (const done of buildNameIndex($client, kind)) {
        if (kind === "user") onIndexed?.(done / summary.counts.public_users);
        // Lets the event loop handle pending signals.
        await setImmediate();
      }
    }

    const built_at = formatTime(Math.floor(builtAtMs / 1000));
    writeMeta(db, { built_at, roadbook_version: version, ...summary, id_map });
    createIndexes($client);
    $client.exec("COMMIT");
  }

  return {
    /** In a transaction until it is finished. The snapshot to compare it with is attached as `old`. */
    db,
    builtAtMs,

    /**
     * Makes the database, whose rows are complete, a snapshot: in its file, which is `work`, or as a
     * copy in `next`. Returns the checksum. Commits the id map, so that no id is lost that the
     * snapshot will serve.
     */
    async toFile(
      { next, work }: Paths,
      ids: Ids,
      summary: Summary,
      onIndexed?: ImportOptions["onIndexed"],
    ): Promise<string> {
      await finish(ids, summary, onIndexed);
      const isCopied = isNew || hasManyFreePages();
      // Copies rows, not pages, so free pages are left behind.
      if (isCopied) db.run(sql`VACUUM INTO ${next}`);
      close();

      const file = isCopied ? next : work;
      const sha256 = await sealFile(file);
      // Detects bugs in how a snapshot is built. A takedown does not wait for SQLite's own checks.
      await (isNew ? checkSnapshot(file) : verifyFile(file));
      await ids.commit();
      return sha256;
    },

    /** Returns the database, which is in memory and whose rows are complete, as a snapshot. */
    async toBytes(ids: Ids, summary: Summary): Promise<Uint8Array> {
      await finish(ids, summary);
      if (hasManyFreePages()) $client.exec("VACUUM");
      return sealBytes($client.serialize());
    },

    [Symbol.dispose]: close,
  };
}
