/** Exports the dataset in a snapshot. Importing and exporting it again changes nothing. */
import { type IdsLine, withEndLine } from "../../domain/dataset.ts";
import type { Database } from "../../sqlite/driver.ts";
import { readMeta } from "../format/meta.ts";
import { openPrivate } from "../format/open.ts";
import { listRecords } from "../format/records.ts";

/**
 * Lists the lines as JSON, once. Throws a `SnapshotError` if the snapshot at `path` cannot be read.
 * Whoever does not iterate over the lines must dispose of them, which closes the snapshot.
 */
export async function exportDataset(path: string): Promise<Iterable<string> & Disposable> {
  const { db } = await openPrivate(path);
  return new ExportedLines(db);
}

class ExportedLines implements Iterable<string>, Disposable {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  *[Symbol.iterator](): Generator<string> {
    yield* withEndLine(listLines(this.#db));
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
