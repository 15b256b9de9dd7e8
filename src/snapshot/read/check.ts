/** Reads every byte of a snapshot file and says whether it is the one that was written. */
import { BITS_BYTES } from "../../search/posting-block.ts";
import { MAX_DOCUMENT_BYTES } from "../format/document.ts";
import { InvalidSnapshot } from "../format/file.ts";
import { countRows, type Meta, readMeta } from "../format/meta.ts";
import { openTables, SpoiledSnapshot, snapshotError } from "./open.ts";

const lists = [
  ["user", "profile", MAX_DOCUMENT_BYTES],
  ["user", "achievements", MAX_DOCUMENT_BYTES],
  ["user_long_list", "ranks", BITS_BYTES],
  ["company_long_list", "ranks", BITS_BYTES],
] as const;

/**
 * Checks the file from its header to the last bit; returns its facts, or throws a `SnapshotError`.
 * The checksum finds any change since the file was written; SQLite's own checks, which take the
 * longer part, find what Roadbook or SQLite would have written wrong.
 */
export async function checkSnapshot(path: string): Promise<Meta> {
  const { db, isSpoiled, close } = await openTables(path);
  try {
    // FTS5 checks itself on the way: of posting lists without their text, that they are well formed.
    const [error] = db.$client
      .prepare<{ integrity_check: string }>("PRAGMA integrity_check(1)")
      .all();
    if (error?.integrity_check !== "ok") {
      throw new InvalidSnapshot(`is damaged: ${error?.integrity_check.replaceAll("\n", " ")}`);
    }
    for (const [table, column, maxBytes] of lists) {
      const tooLong = `SELECT 1 FROM ${table} WHERE octet_length(${column}) > ${maxBytes} LIMIT 1`;
      if (db.$client.prepare(tooLong).get()) {
        throw new InvalidSnapshot(`is damaged: ${table} has ${column} longer than Roadbook writes`);
      }
    }
    const meta = readMeta(db);
    if (JSON.stringify(countRows(db)) !== JSON.stringify(meta.counts)) {
      throw new InvalidSnapshot("is damaged: it does not hold as much as it says");
    }
    if (isSpoiled()) throw new SpoiledSnapshot();
    return meta;
  } catch (error) {
    throw snapshotError(path, error);
  } finally {
    close();
  }
}
