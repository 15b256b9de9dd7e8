/** `roadbook import` builds a snapshot from a dataset, and `roadbook apply` applies changes. */
import { existsSync, statSync } from "node:fs";
import { openInput } from "../files/lines.ts";
import { UsageError } from "../setting-kinds.ts";
import { type ApplyOptions, applyChanges } from "../snapshot/import/apply.ts";
import { type ImportOptions, importDataset } from "../snapshot/import/import.ts";
import { DatasetError, formatErrors, type LineErrors } from "../snapshot/import/line-errors.ts";
import { findProblem, isFolder } from "../tables/open.ts";
import {
  describeCounts,
  endOnSignal,
  plural,
  refuseSameFile,
  warn,
  writeSummary,
} from "./output.ts";
import { createRowProgress, endProgress, showShare, showStep } from "./progress.ts";

/**
 * `source` is the path of a file or of a folder of CSV files, `-` for standard input, or the URL of
 * a database.
 */
export async function runImport(
  source: string,
  { to, ...options }: { to: string } & ImportOptions,
): Promise<void> {
  const { dryRun, queries } = options;
  const problem = findProblem(source, queries);
  if (problem !== undefined) throw new UsageError(`SOURCE ${problem}`);
  const isTables = queries !== undefined || isFolder(source);
  if (isTables && options.expectEnd) throw new UsageError("--expect-end works only with NDJSON");
  refuseSameFile(source, to);
  const isNewFile = !existsSync(to);
  const onIndexed = (share: number) => showShare("indexing", share);
  const { counts, skipped, cleaned } = await write("dataset", (onCommit) =>
    importDataset(isTables ? source : readWithProgress(source), to, {
      ...options,
      onRead: createRowProgress(),
      onIndexed,
      onCommit,
      onWait,
    }),
  ).finally(endProgress);
  if (skipped.count > 0) process.stderr.write(`${formatErrors(skipped)}\n`);
  if (isNewFile && !dryRun) warnIfPrivate(to);
  const done = dryRun ? "dry run (nothing was written): would import" : "imported";
  writeSummary(
    `${done} ${describeCounts(counts)} to ${to}${describeCleaned(cleaned)}${describeSkipped(skipped, isTables ? "row" : "line")}\n`,
  );
}

/** `changes` is the path of a file, or `-` for standard input. */
export async function runApply(
  changes: string,
  { to, ...options }: { to: string } & ApplyOptions,
): Promise<void> {
  refuseSameFile(changes, to);
  const { counts, cleaned } = await write("changes", (onCommit) =>
    applyChanges(openInput(changes), to, { ...options, onCommit, onWait }),
  ).finally(endProgress);
  writeSummary(
    `applied ${changes}: ${to} now has ${describeCounts(counts)}${describeCleaned(cleaned)}\n`,
  );
}

const onWait = () => showStep("waiting for another command to finish writing");

/** Turns a `DatasetError` into an error that counts and lists the problems in `input`. */
async function write<T>(
  input: string,
  writeTarget: (onCommit: () => void) => Promise<T>,
): Promise<T> {
  try {
    return await endOnSignal(writeTarget);
  } catch (error) {
    if (!(error instanceof DatasetError)) throw error;
    const count = plural(error.count, "error");
    const more =
      error.errors.length < error.count ? "\n--max-errors N shows more of each kind" : "";
    throw new Error(`${count} in the ${input}; nothing was written\n${error.message}${more}`);
  }
}

/**
 * Warns if only the owner can read the file, as when root wrote it with a strict umask. A service
 * that runs as another user could not open the file.
 */
function warnIfPrivate(file: string): void {
  const mode = statSync(file).mode & 0o777;
  if ((mode & 0o044) > 0) return;
  warn(
    `only the owner can read ${file} (mode ${mode.toString(8)}, from this shell's umask); if the ` +
      `server runs as another user, run chmod 644 ${file} once (later imports keep the mode)`,
  );
}

/** Reads a dataset and shows the progress, in bytes if the dataset comes from standard input. */
async function* readWithProgress(path: string): AsyncGenerator<Uint8Array> {
  const total = path === "-" ? 0 : (statSync(path, { throwIfNoEntry: false })?.size ?? 0);
  let read = 0;
  for await (const chunk of openInput(path)) {
    read += chunk.length;
    if (total > 0) showShare("reading", read / total);
    else showStep(`reading ${(read / 1e6).toFixed(1)} MB`);
    yield chunk;
  }
}

/** Describes the cleaned names for the end of a message. Empty if there are none. */
function describeCleaned(names: number): string {
  if (names === 0) return "";
  return `, removed control characters or extra white space in ${plural(names, "name")}`;
}

/** Describes the skipped parts for the end of a message. Empty if nothing was skipped. */
function describeSkipped(
  { lines, fields, references, hidden }: LineErrors,
  unit: "line" | "row",
): string {
  const counts: [number, string][] = [
    [lines, unit],
    [fields, "field"],
    [references, "reference"],
  ];
  const parts = counts.filter(([count]) => count > 0).map(([count, one]) => plural(count, one));
  if (parts.length === 0) return "";
  const made = hidden > 0 ? `, made ${plural(hidden, "user")} private` : "";
  return `, skipped ${new Intl.ListFormat("en-GB").format(parts)}${made}`;
}
