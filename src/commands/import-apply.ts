/** `roadbook import` builds a snapshot from a dataset, and `roadbook apply` applies changes. */
import { statSync } from "node:fs";
import { openInput } from "../files/lines.ts";
import { UsageError } from "../flag-kinds.ts";
import { type ApplyOptions, applyChanges } from "../snapshot/import/apply.ts";
import { type ImportOptions, importDataset } from "../snapshot/import/import.ts";
import { DatasetError, formatErrors, type LineErrors } from "../snapshot/import/line-errors.ts";
import { findProblem, isFolder } from "../tables/open.ts";
import { describeCounts, endOnSignal, plural, writeSummary } from "./output.ts";
import { percent, showProgress } from "./progress.ts";

/**
 * `source` is the path of a file or of a folder of CSV files, `-` for standard input, or the URL of
 * a database.
 */
export async function runImport(
  source: string,
  { to, ...options }: { to: string } & ImportOptions,
): Promise<void> {
  const problem = findProblem(source, options.queries);
  if (problem !== undefined) throw new UsageError(`SOURCE ${problem}`);
  const isTables = options.queries !== undefined || isFolder(source);
  if (isTables && options.expectEnd) throw new UsageError("--expect-end works only with NDJSON");
  const { counts, skipped, cleaned } = await write("dataset", (onCommit) =>
    importDataset(isTables ? source : readWithProgress(source), to, {
      ...options,
      onRead: (file, rows) => showProgress(`reading ${file}: ${rows.toLocaleString("en")} rows`),
      onIndexed: (share) => showProgress(`indexing ${percent(share)}`),
      onCommit,
      onWait,
    }),
  );
  if (skipped.count > 0) process.stderr.write(`${formatErrors(skipped)}\n`);
  const done = options.dryRun ? "dry run (nothing was written): would import" : "imported";
  const left = describeSkipped(skipped);
  writeSummary(`${done} ${describeCounts(counts)} to ${to}${describeCleaned(cleaned)}${left}\n`);
}

/** `changes` is the path of a file, or `-` for standard input. */
export async function runApply(
  changes: string,
  { to, ...options }: { to: string } & ApplyOptions,
): Promise<void> {
  const { counts, cleaned } = await write("changes", (onCommit) =>
    applyChanges(openInput(changes), to, { ...options, onCommit, onWait }),
  );
  const now = `${to} now has ${describeCounts(counts)}`;
  writeSummary(`applied ${changes}: ${now}${describeCleaned(cleaned)}\n`);
}

const onWait = () => showProgress("waiting for another command to finish writing");

/** Turns a `DatasetError` into an error that counts and lists the problems in `input`. */
async function write<T>(
  input: string,
  writeTarget: (onCommit: () => void) => Promise<T>,
): Promise<T> {
  try {
    return await endOnSignal(writeTarget).finally(() => showProgress(""));
  } catch (error) {
    if (!(error instanceof DatasetError)) throw error;
    const count = plural(error.count, "error");
    const more =
      error.errors.length < error.count ? "\n--max-errors N shows more of each kind" : "";
    throw new Error(`${count} in the ${input}; nothing was written\n${error.message}${more}`);
  }
}

/** Reads a dataset and shows the progress, in bytes if the dataset comes from standard input. */
async function* readWithProgress(path: string): AsyncGenerator<Uint8Array> {
  const total = path === "-" ? 0 : (statSync(path, { throwIfNoEntry: false })?.size ?? 0);
  let read = 0;
  for await (const chunk of openInput(path)) {
    read += chunk.length;
    showProgress(`reading ${total > 0 ? percent(read / total) : `${Math.floor(read / 1e6)} MB`}`);
    yield chunk;
  }
}

/** Describes the cleaned names for the end of a message. Empty if there are none. */
function describeCleaned(names: number): string {
  if (names === 0) return "";
  return `, removed control characters or extra white space in ${plural(names, "name")}`;
}

/** Describes the skipped errors for the end of a message. Empty if nothing was skipped. */
function describeSkipped({ count, hidden }: LineErrors): string {
  if (count === 0) return "";
  const made = hidden > 0 ? `, made ${plural(hidden, "user")} private` : "";
  return `, skipped ${plural(count, "error")}${made}`;
}
