/**
 * How every snapshot file comes about: filled in one transaction beside its target, sealed, opened
 * once to see that it can be, and only then put in its place.
 */
import { constants, copyFileSync } from "node:fs";
import { sqlite } from "#sqlite";
import { formatTime } from "../../domain/time.ts";
import { version } from "../../domain/version.ts";
import { replaceFile } from "../../files/replace.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import { sealSnapshot } from "../format/checksum.ts";
import { type Counts, countRows, writeMeta } from "../format/meta.ts";
import { openSnapshot } from "../read/open.ts";

/**
 * Makes the snapshot `target`, of nothing or of a copy of the file `base`, from what `fill` puts into
 * it; `fill` resolves to the SHA-256 of the dataset that it now is. Throws what `fill` and the file
 * system throw, and then the target is as it was.
 */
export function writeSnapshot(
  target: string,
  base: string | undefined,
  fill: (db: Sqlite) => Promise<string>,
): Promise<Counts> {
  return replaceFile(target, async (path) => {
    if (base !== undefined) copyFileSync(base, path, constants.COPYFILE_FICLONE);
    const counts = await fillFile(path, fill);
    sealSnapshot(path);
    openSnapshot(path).close();
    return counts;
  });
}

async function fillFile(path: string, fill: (db: Sqlite) => Promise<string>): Promise<Counts> {
  const db = sqlite.openWritable(path);
  try {
    // The file is not the target yet: there is no old state to protect and nobody to lock out.
    // What the index gives back when its parts are merged is a seventh of the file.
    db.exec("PRAGMA auto_vacuum = FULL");
    db.exec("PRAGMA journal_mode = OFF");
    db.exec("PRAGMA synchronous = OFF");
    db.exec("PRAGMA locking_mode = EXCLUSIVE");
    db.exec("PRAGMA cache_size = -65536");
    // Without this, pages that are given back keep the rows that were in them.
    db.exec("PRAGMA secure_delete = ON");
    db.exec("BEGIN");
    const dataset_sha256 = await fill(db);
    const counts = countRows(db);
    const built_at = formatTime(Math.floor(Date.now() / 1000));
    writeMeta(db, { built_at, dataset_sha256, roadbook_version: version, counts });
    db.exec("COMMIT");
    return counts;
  } finally {
    db.close();
  }
}
