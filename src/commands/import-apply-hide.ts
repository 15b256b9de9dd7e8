/** The commands that write snapshots: `import`, `apply` and `hide`. */
import { formatDuration } from "../domain/duration.ts";
import { MAX_HOLD_MS } from "../domain/limits.ts";
import { paragraph } from "../domain/text.ts";
import { BusyError } from "../files/lock.ts";
import type { ReplaceOptions } from "../files/replace.ts";
import { id } from "../settings/kinds.ts";
import { parseNamed } from "../settings/named-value.ts";
import { UsageError } from "../settings/usage-error.ts";
import { type ApplyOptions, applyChanges } from "../snapshot/import/apply.ts";
import { type HideOptions, hideUsers } from "../snapshot/import/hide.ts";
import { type ImportOptions, importSource } from "../snapshot/import/import.ts";
import { DatasetError } from "../snapshot/import/record-errors.ts";
import { findSource, type Source } from "../snapshot/import/source.ts";
import type { WriteReport } from "../snapshot/import/write-report.ts";
import { confirmServed } from "./confirm.ts";
import { plural } from "./counts.ts";
import { Progress } from "./progress.ts";
import { describeWritten, listDetails, toOutcome } from "./report.ts";
import { endOnSignal } from "./signals.ts";
import { suggestNext, toLine, writeSummary } from "./stdout.ts";

/** How a command ends. */
interface Ending {
  json: boolean;
  /** The URL of a server that must serve the new snapshot. */
  confirm: string | undefined;
  waitMs: number;
}

/** Options that are no flags, but set here or left at their defaults. */
type Unset = "builtAtMs" | `on${string}`;
/** The options that are flags. None may be missing, so that no flag is without effect. */
type Flags<Options, No extends string = never> = Required<Omit<Options, Unset | No>>;

/** Without `to`, a dry run compares nothing. */
type Importing = Flags<ImportOptions> & Ending & { source: string; to: string | undefined };
type Applying = Flags<ApplyOptions, "avatarBase" | "decodeHtml"> &
  Ending & { changes: string; to: string };
type Hiding = Flags<HideOptions> & Ending & { ids: string[]; to: string };

const NEEDLESS_MAP = paragraph(
  "the ids of all users are integers: with --id-map they get other numbers, so {id} in",
  "--driver-link is not theirs; to keep them, leave --id-map out, and give roles, companies and",
  "achievements numbers in the queries",
);

/** `source` is a file, a folder of CSV files, `-` for standard input, or a database's URL. */
export async function runImport({ source: given, to, queries, ...options }: Importing) {
  // A URL may have a password.
  const source = parseNamed("SOURCE", { isSecret: true }, given, () => findSource(given, queries));
  checkImportFlags(source, options);

  const imported = await write("dataset", (hooks, progress) =>
    importSource(source, to, { ...options, ...showImport(progress), ...hooks }),
  );
  const { skipped } = imported;
  if (skipped.count > 0 && !options.json) process.stderr.write(`${skipped.format()}\n`);

  const isDry = options.dryRun === true;
  // Beside an older snapshot that was made with the map, it can no longer be left out.
  const isNeedless = imported.hasNeedlessMap && imported.differences === undefined;
  const lines = [describeImport(imported, to, isDry), ...listDetails(imported)];
  if (isNeedless) lines.push(NEEDLESS_MAP);
  const more = { dry_run: isDry, needless_id_map: isNeedless };
  await finish(to, options, imported, lines, more);
  if (to !== undefined && !isDry && !options.json) suggestNext(["--snapshot", to]);
}

export async function runApply({ changes, to, ...options }: Applying) {
  const applied = await write("changes", (hooks) =>
    applyChanges(changes, to, { ...options, ...hooks }),
  );

  const summary = `applied ${changes}: ${to} now has ${describeWritten(applied)}`;
  const lines = [summary, ...listDetails(applied)];
  await finish(to, options, applied, lines);
}

export async function runHide({ ids, to, ...options }: Hiding) {
  const parse = (text: string) => parseNamed("ID…", id, text, () => id.parse(text));
  const given = options.idMap === undefined ? ids.map(parse) : ids;
  const hidden = await write("changes", (hooks) => hideUsers(given, to, { ...options, ...hooks }));

  const lines = hidden.found.map(({ given, wasPublic }) => {
    return `${to}: user ${given} ${wasPublic ? "is now private" : "was private already"}`;
  });
  const idsOf = (wasPublic: boolean) =>
    hidden.found.filter((user) => user.wasPublic === wasPublic).map(({ given }) => given);
  const more = { made_private: idsOf(true), already_private: idsOf(false) };
  await finish(to, options, hidden, lines, more);
}

/** Throws if flags of `import` exclude each other or do not fit the source. */
function checkImportFlags(
  { kind }: Source,
  { expectEnd, dates, dryRun, holdMs = MAX_HOLD_MS, confirm }: ImportOptions & Ending,
): void {
  if (expectEnd && (kind === "database" || kind === "folder")) {
    throw new UsageError("--expect-end works only with NDJSON");
  }
  if (dates && kind !== "folder") throw new UsageError("--dates works only with CSV files");
  if (confirm && dryRun) throw new UsageError("a --dry-run cannot be confirmed");
  if (holdMs > MAX_HOLD_MS) {
    throw new UsageError(`--hold must be at most ${formatDuration(MAX_HOLD_MS)}`);
  }
}

function showImport(progress: Progress): ImportOptions {
  return {
    onBytes: (bytes) => progress.show(`reading: ${Math.floor(bytes / 1e6)} MB`),
    onRead: (file, rows) => progress.show(`reading ${file}: ${rows.toLocaleString("en")} rows`),
    onSlow: (file) =>
      progress.warn(`a page of ${file} took over half a second; run ANALYZE on its tables`),
    onIndexed: (share) => progress.show(`indexing: ${Math.floor(100 * share)} %`),
  };
}

function describeImport(imported: WriteReport, to: string | undefined, isDry: boolean): string {
  const done = isDry ? "dry run (nothing was written): would import" : "imported";
  const written = `${done} ${describeWritten(imported, to === undefined ? "" : ` to ${to}`)}`;
  const { count, hidden } = imported.skipped;
  if (count === 0) return written;

  const skipped = `${written}, skipped ${plural(count, "error")}`;
  return hidden > 0 ? `${skipped}, made ${plural(hidden, "user")} private` : skipped;
}

/** Completes errors: counts the problems in `input`, or names the flag for how long to wait. */
async function write<T>(
  input: string,
  run: (hooks: ReplaceOptions, progress: Progress) => Promise<T>,
): Promise<T> {
  const progress = new Progress();
  const onWait = () => progress.show("waiting for another command to finish writing");
  try {
    return await endOnSignal((onCommit) => run({ onCommit, onWait }, progress));
  } catch (error) {
    if (error instanceof BusyError) throw new Error(`${error.message}; --wait sets this time`);
    if (!(error instanceof DatasetError)) throw error;
    const count = plural(error.count, "error");
    throw new Error(`${count} in the ${input}; nothing was written\n${error.message}`);
  } finally {
    progress.end();
  }
}

/** Says what was done, and waits for the server. With --json, a failure to wait is all it says. */
async function finish(
  to: string | undefined,
  { json, confirm, waitMs }: Ending,
  report: WriteReport,
  lines: readonly string[],
  more: object = {},
): Promise<void> {
  if (!json) writeSummary(`${lines.join("\n")}\n`);
  if (confirm && to !== undefined) await confirmServed(to, confirm, waitMs);
  if (json) writeSummary(toLine(toOutcome(to, report, more)));
}
