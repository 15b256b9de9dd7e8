/** The report on a snapshot that has been written. All commands that write one have the same. */
import type { RecordType } from "../domain/dataset.ts";
import type { Totals } from "../snapshot/format/meta.ts";
import type { Differences } from "./comparison.ts";
import type { ReadReport } from "./read-dataset.ts";

export interface WriteReport extends ReadReport, Totals {
  /** The checksum of the new snapshot; undefined for a dry run. */
  sha256?: string;
  /** Undefined if the file is new or nothing could be compared. */
  differences: Differences | undefined;
  /** How many users an import kept private or deleted, although the dataset says otherwise. */
  held: number;
  /** The records that a change file deletes and that do not exist. */
  notFound: { type: RecordType; id: number | string }[];
}
