/** What `import` and `apply` report. */
import type { MissingRecord, UnknownColumn } from "../domain/records.ts";
import type { Totals } from "../snapshot/format/meta.ts";
import type { OddCount } from "./clean-record.ts";
import type { RecordErrors } from "./record-errors.ts";

/** The report on a dataset that has been read. */
export interface ReadReport {
  /** How many names that are written had invisible characters or extra white space. */
  cleaned: number;
  /** How many names that are written look wrong; see clean-record.ts. */
  names: Record<"entities" | "misread" | "placeholders" | "contacts", OddCount>;
  /** Times before 1990 or in the future. */
  times: OddCount;
  unknownColumns: readonly UnknownColumn[];
  /** How files were read, where they could not show it at once. */
  notes: readonly string[];
  /** The errors of which the records, or the invalid parts of them, were skipped. */
  skipped: RecordErrors;
  /** How many users became private because a record about them is invalid. */
  madePrivate: number;
  /** How many users were left out because their ids cannot be read. */
  leftOut: number;
}

/** The report on a snapshot that `import` or `apply` has written. */
export interface WriteReport extends ReadReport, Totals {
  /** The checksum of the new snapshot; undefined for a dry run. */
  sha256?: string | undefined;
  /** Undefined if the file is new or nothing could be compared. */
  differences: Differences | undefined;
  /** How many users an import kept private or deleted, although the dataset says otherwise. */
  held?: number | undefined;
  /** The records that a change file deletes and that do not exist. */
  notFound?: readonly MissingRecord[];
}

/** How a new snapshot differs from the old one. */
export interface Differences {
  users: Record<"added" | "removed" | "made_private" | "made_public", number>;
  unlocked_achievements: Record<"before" | "after", number>;
  /** For how many users who stay public this has changed. */
  changed: Record<"names" | "avatars" | "companies" | "roles", number>;
  /** How many users who stay public have none any more. */
  lost: Record<"avatars" | "companies" | "roles", number>;
}
