/**
 * Makes a snapshot of a dataset. Streams: a line is rows on disk before the next batch is read. The
 * snapshot appears at its path whole, or the path stays as it was.
 */
import { parseLine } from "../../domain/dataset.ts";
import type { Counts } from "../format/meta.ts";
import { createSchema } from "../format/schema.ts";
import { buildNameIndex } from "../names/build.ts";
import { readDataset } from "./dataset.ts";
import { createRowWriter } from "./rows.ts";
import { writeSnapshot } from "./write.ts";

/**
 * Imports a dataset (NDJSON bytes, plain, gzip or zstd) as the snapshot file `target`. Throws a
 * `DatasetError` when lines are wrong, and what the file system throws. After the last line,
 * `onIndexed` is told now and then what share (0 to 1) of the search index is built.
 */
export function importDataset(
  input: AsyncIterable<Uint8Array>,
  target: string,
  onIndexed?: (share: number) => void,
): Promise<Counts> {
  return writeSnapshot(target, undefined, async (db) => {
    createSchema(db);
    const writer = createRowWriter(db);
    const sha256 = await readDataset(input, { parse: parseLine, ...writer });
    buildNameIndex(db, "company");
    buildNameIndex(db, "user", onIndexed);
    return sha256;
  });
}
