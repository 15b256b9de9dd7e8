/**
 * How every snapshot file comes about: a database is filled in one transaction in a private folder
 * beside the target, its living rows alone are copied to a new file, which gets its checksum, is read
 * in full, and only then put in its place.
 */
import { constants, copyFileSync } from "node:fs";
import { sqlite } from "#sqlite";
import { formatTime } from "../../domain/time.ts";
import { version } from "../../domain/version.ts";
import { replaceFile } from "../../files/replace.ts";
import type { Sqlite } from "../../sqlite/driver.ts";
import { appendChecksum } from "../format/checksum.ts";
import { type Counts, countRows, writeMeta } from "../format/meta.ts";
import { checkSnapshot } from "../read/check.ts";
import { openTables, SnapshotError } from "../read/open.ts";

/** What the new snapshot starts from. */
type Start = "nothing" | "the old snapshot";

/**
 * Makes the snapshot `target` of what `fill` puts into a database, empty or the one that is there;
 * `fill` resolves to the SHA-256 of the dataset that it now is. Throws what `fill` and the file system
 * throw, a `SnapshotError` when the old snapshot is damaged, and then the target is as it was.
 * `builtAtMs` becomes its `built_at`.
 */
export function writeSnapshot(
  target: string,
  start: Start,
  fill: (db: Sqlite) => Promise<string>,
  builtAtMs = Date.now(),
): Promise<Counts> {
  return replaceFile(target, async (path, old) => {
    const database = `${path}.database`;
    if (start === "the old snapshot") await copySnapshot(old, database, target);
    const counts = await fillDatabase(database, path, fill, builtAtMs);
    await appendChecksum(path);
    await check(path, start);
    return counts;
  });
}

/**
 * Every byte is read again, and what an import has written is checked by SQLite, too. With a million
 * users that takes 0.2 s and 2 s. A change starts from a file that was checked, and must not wait for
 * its 2 s.
 */
async function check(path: string, start: Start): Promise<void> {
  if (start === "nothing") await checkSnapshot(path);
  else (await openTables(path)).close();
}

/** The copy is verified, so what is changed is what was checked, whatever becomes of the file. */
async function copySnapshot(from: string, to: string, name: string): Promise<void> {
  copyFileSync(from, to, constants.COPYFILE_FICLONE);
  try {
    (await openTables(to)).close();
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error;
    throw new SnapshotError(name, error.reason);
  }
}

async function fillDatabase(
  database: string,
  path: string,
  fill: (db: Sqlite) => Promise<string>,
  builtAtMs: number,
): Promise<Counts> {
  const db = sqlite.openWritable(database);
  try {
    // Nobody else has the file: there is no old state to protect, and nobody to lock out. A killed
    // writer must leave nothing that SQLite would play into another file, so the journal is in memory;
    // OFF is ignored by Bun's SQLite without an error.
    setPragma(db, "journal_mode", "memory");
    setPragma(db, "locking_mode", "exclusive");
    db.exec("PRAGMA synchronous = OFF");
    db.exec("PRAGMA temp_store = MEMORY");
    db.exec("PRAGMA cache_size = -32768");
    db.exec("BEGIN");
    const dataset_sha256 = await fill(db);
    const counts = countRows(db);
    const built_at = formatTime(Math.floor(builtAtMs / 1000));
    writeMeta(db, { built_at, dataset_sha256, roadbook_version: version, counts });
    db.exec("COMMIT");
    // What SQLite leaves in freed pages and cells stays behind: rows are copied, not pages.
    db.prepare("VACUUM INTO ?").run(path);
    return counts;
  } finally {
    db.close();
  }
}

/** SQLite says what a pragma is set to, and may ignore a setting. */
function setPragma(db: Sqlite, name: string, value: string): void {
  const set = db.prepare<Record<string, unknown>>(`PRAGMA ${name} = ${value}`).get()?.[name];
  if (set !== value) throw new Error(`SQLite has ${name} ${set}, not ${value}`);
}
