/** Exports the dataset in a snapshot. Importing and exporting it again changes nothing. */
import { type IdsLine, withEndLine } from "../../domain/dataset.ts";
import { readMeta } from "../format/meta.ts";
import { openPrivate, type VerifiedDatabase } from "../format/open.ts";
import { listRecords } from "../format/records.ts";

/** Lists the lines as JSON. Throws a `SnapshotError` if the snapshot at `path` cannot be read. */
export async function exportDataset(path: string): Promise<Iterable<string>> {
  return withEndLine(listLines(await openPrivate(path)));
}

function* listLines({ db }: VerifiedDatabase): Generator<string> {
  try {
    const { id_map: map } = readMeta(db);
    if (map !== undefined) yield JSON.stringify({ type: "ids", map } satisfies IdsLine);
    for (const line of listRecords(db)) yield JSON.stringify(line);
  } finally {
    db.$client.close(true);
  }
}
