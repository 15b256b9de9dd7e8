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
  const close = () => db.$client.close();
  function* read(): Generator<string> {
    try {
      yield* withEndLine(listLines(db));
    } catch (error) {
      throw named(path, "read", error);
    } finally {
      close();
    }
  }
  return { [Symbol.iterator]: read, [Symbol.dispose]: close };
}

function* listLines(db: Database): Generator<string> {
  const { id_map: map } = readMeta(db);
  if (map !== undefined) yield JSON.stringify({ type: "ids", map } satisfies IdsLine);
  for (const line of listRecords(db)) yield JSON.stringify(line);
}
