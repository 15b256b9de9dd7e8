/** The options of `import`, `apply` and `hide`. Most are flags, too. Each file reads those it needs. */
import type { LockOptions } from "../files/lock.ts";
import type { CsvOptions } from "../tables/csv-source.ts";
import type { ReadHooks } from "../tables/table.ts";

export const ERRORS_PER_GROUP = 5;

export interface ImportOptions extends CsvOptions, LockOptions, ReadHooks {
  /** The folder with a SELECT for each table, if the source is a database. */
  queries?: string | undefined;
  /**
   * How long to wait for a connection to a database, for a program that writes to a SQLite file, and
   * for each page of rows from a server. Defaults to two minutes.
   */
  timeoutMs?: number | undefined;
  /** The file that maps ids of any kind to integers. Without it, ids must be integers. */
  idMap?: string | undefined;
  /** Base URL for avatars that are not http(s) URLs. */
  avatarBase?: string | undefined;
  /** Whether to decode HTML entities in names and descriptions. */
  decodeHtml?: boolean | undefined;
  /** Whether a missing end line is an error, because the dataset may be incomplete. */
  expectEnd?: boolean | undefined;
  /** Whether to skip anything invalid in the dataset; see skip-invalid.ts. */
  skipInvalid?: boolean | undefined;
  /** How many errors of each kind to report. Defaults to {@link ERRORS_PER_GROUP}. */
  maxErrors?: number | undefined;
  /** Whether most users, companies or achievements may go, or most of what users have. */
  allowShrink?: boolean | undefined;
  /** Whether most private users may become public or absent. */
  allowReveal?: boolean | undefined;
  /** Whether most users may have other names, as when rows are renumbered. */
  allowRenames?: boolean | undefined;
  /**
   * Whether to overwrite a file that is not an intact snapshot, or a snapshot whose ids belong to
   * others, and to take ids that look rounded.
   */
  force?: boolean | undefined;
  /** Whether to report what an import would do, and write nothing. */
  dryRun?: boolean | undefined;
  /** How long to keep to a takedown by `apply` or `hide`. Defaults to an hour, the maximum. */
  holdMs?: number | undefined;
  /**
   * The time of the build, which dates takedowns, ends holds and shows what is in the future. Defaults
   * to now.
   */
  builtAtMs?: number | undefined;
  /** Called repeatedly with the number of bytes that have been read. */
  onBytes?: ((bytes: number) => void) | undefined;
  /** Called repeatedly while the index of user names is built, with the progress (0 to 1). */
  onIndexed?: ((share: number) => void) | undefined;
  /** Called just before the target is replaced. From then on, a command must not end as if it had failed. */
  onCommit?: (() => void) | undefined;
}

export type HideOptions = Pick<
  ImportOptions,
  "idMap" | "waitMs" | "builtAtMs" | "onWait" | "onCommit"
>;

export type ApplyOptions = HideOptions &
  Pick<ImportOptions, "expectEnd" | "maxErrors" | "allowShrink" | "onBytes">;
