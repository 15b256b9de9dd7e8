/** `roadbook import`: a dataset becomes a snapshot file. */
import { statSync } from "node:fs";
import { openInput } from "../files/lines.ts";
import { importDataset } from "../snapshot/build/import.ts";
import type { Location } from "../snapshot/remote/location.ts";
import { writeStdout } from "./output.ts";
import { createProgress, type Progress } from "./progress.ts";
import { describeCounts, describeSkipped, reportErrors, reportSkipped } from "./report.ts";
import { endOnSignal } from "./signals.ts";
import { refuseSameFile, writeTarget } from "./target.ts";

interface ImportOptions {
  /** The file of the dataset, or `-`. */
  dataset: string;
  to: string;
  /** Where `to` is, when it is no file. */
  location: Location | undefined;
  expectEnd: boolean;
  allowShrink: boolean;
  skipInvalid: boolean;
}

export async function runImport({
  dataset,
  to,
  location,
  ...options
}: ImportOptions): Promise<void> {
  refuseSameFile(dataset, to);
  const progress = createProgress();
  const input = readShown(dataset, progress);
  const onIndexed = (share: number) => progress.show("indexing", share);
  const { counts, skipped } = await reportErrors("dataset", () =>
    endOnSignal(() =>
      writeTarget(to, location, (path) => importDataset(input, path, { ...options, onIndexed })),
    ),
  ).finally(progress.end);
  reportSkipped(skipped);
  writeStdout(`imported ${describeCounts(counts)} to ${to}${describeSkipped(skipped)}\n`);
}

/** The bytes of a dataset; of standard input nobody knows how many are to come. */
async function* readShown(path: string, progress: Progress): AsyncGenerator<Uint8Array> {
  const input = openInput(path);
  const total = path === "-" ? 0 : (statSync(path, { throwIfNoEntry: false })?.size ?? 0);
  let read = 0;
  for await (const chunk of input) {
    read += chunk.length;
    if (total > 0) progress.show("reading", Math.min(1, read / total));
    else progress.showBytes("reading", read);
    yield chunk;
  }
}
