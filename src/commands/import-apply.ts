/** `roadbook import` builds a snapshot from a dataset, and `roadbook apply` applies changes. */
import { openInput } from "../files/lines.ts";
import { UsageError } from "../settings/kinds.ts";
import { type ApplyOptions, applyChanges } from "../snapshot/import/apply.ts";
import { type ImportOptions, importDataset } from "../snapshot/import/import.ts";
import { DatasetError, formatErrors } from "../snapshot/import/line-errors.ts";
import { findProblem, isFolder } from "../tables/open.ts";
import { describeCounts, endOnSignal, plural, showProgress, writeSummary } from "./output.ts";

/** `source` is a file, a folder of CSV files, `-` for standard input, or a database's URL. */
export async function runImport({
  source,
  to,
  ...options
}: ImportOptions & Record<"source" | "to", string>): Promise<void> {
  const problem = findProblem(source, options.queries);
  if (problem !== undefined) throw new UsageError(`SOURCE ${problem}`);
  const isTables = options.queries !== undefined || isFolder(source);
  if (isTables && options.expectEnd) throw new UsageError("--expect-end works only with NDJSON");
  const { counts, skipped, cleaned } = await write("dataset", (onCommit) =>
    importDataset(isTables ? source : readWithProgress(source), to, {
      ...options,
      onRead: (file, rows) => showProgress(`reading ${file}: ${rows.toLocaleString("en")} rows`),
      onIndexed: (share) => showProgress(`indexing: ${Math.floor(100 * share)} %`),
      onCommit,
      onWait,
    }),
  );
  if (skipped.count > 0) process.stderr.write(`${formatErrors(skipped)}\n`);
  const done = options.dryRun ? "dry run (nothing was written): would import" : "imported";
  const hidden = skipped.hidden > 0 ? `, made ${plural(skipped.hidden, "user")} private` : "";
  const left = skipped.count > 0 ? `, skipped ${plural(skipped.count, "error")}${hidden}` : "";
  writeSummary(`${done} ${describeCounts(counts)} to ${to}${describeCleaned(cleaned)}${left}\n`);
}

export async function runApply({
  changes,
  to,
  ...options
}: ApplyOptions & Record<"changes" | "to", string>): Promise<void> {
  const { counts, cleaned } = await write("changes", (onCommit) =>
    applyChanges(openInput(changes), to, { ...options, onCommit, onWait }),
  );
  const now = `${to} now has ${describeCounts(counts)}`;
  writeSummary(`applied ${changes}: ${now}${describeCleaned(cleaned)}\n`);
}

const onWait = () => showProgress("waiting for another command to finish writing");

/** Turns a `DatasetError` into an error that counts and lists the problems in `input`. */
async function write<T>(input: string, run: (onCommit: () => void) => Promise<T>): Promise<T> {
  try {
    return await endOnSignal(run).finally(() => showProgress(""));
  } catch (error) {
    if (!(error instanceof DatasetError)) throw error;
    const count = plural(error.count, "error");
    throw new Error(`${count} in the ${input}; nothing was written\n${error.message}`);
  }
}

async function* readWithProgress(path: string): AsyncGenerator<Uint8Array> {
  let read = 0;
  for await (const chunk of openInput(path)) {
    read += chunk.length;
    showProgress(`reading: ${Math.floor(read / 1e6)} MB`);
    yield chunk;
  }
}

/** Returns the end of a summary. */
function describeCleaned(names: number): string {
  if (names === 0) return "";
  return `, removed control characters or extra white space in ${plural(names, "name")}`;
}
