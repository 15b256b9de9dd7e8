/** What `import` and `apply` report; read-dataset.ts has what the dataset adds to it. */
import type { MissingRecord } from "../domain/raw-records.ts";
import type { Totals } from "../snapshot/format/meta.ts";
import type { ReadReport } from "./read-dataset.ts";

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
