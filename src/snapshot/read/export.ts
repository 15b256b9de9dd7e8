/** Exports the dataset in a snapshot. Importing and exporting it again changes nothing. */
import { type IdsLine, withEndLine } from "../../domain/dataset.ts";
import { named } from "../../files/errors.ts";
import type { Database } from "../../sqlite/driver.ts";
import { readMeta } from "../format/meta.ts";
import { openPrivate } from "../format/open.ts";
import { listRecords } from "../format/records.ts";

/**
 * Lists the lines as JSON. Throws a `SnapshotError` if the snapshot at `path` cannot be read. The
 * snapshot is closed after the first iteration, or without one when the lines are disposed of.
 */
export async function exportDataset(path: string): Promise<Iterable<string> & Disposable> {
  const { db } = await openPrivate(path);
  return new ExportedLines(path, db);
}

class ExportedLines implements Iterable<string>, Disposable {
  readonly #path: string;
  readonly #db: Database;

  constructor(path: string, db: Database) {
    this.#path = path;
    this.#db = db;
  }

  *[Symbol.iterator](): Generator<string> {
    try {
      yield* withEndLine(listLines(this.#db));
    } catch (error) {
      throw named(this.#path, "read", error);
    } finally {
      this[Symbol.dispose]();
    }
  }

  [Symbol.dispose](): void {
    this.#db.$client.close();
  }
}

function* listLines(db: Database): Generator<string> {
  const { id_map: map } = readMeta(db);
  if (map !== undefined) yield JSON.stringify({ type: "ids", map } satisfies IdsLine);
  for (const line of listRecords(db)) yield JSON.stringify(line);
}
