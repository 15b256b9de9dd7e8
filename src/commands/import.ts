/** `roadbook import`: a dataset becomes a snapshot file. */
import { statSync } from "node:fs";
import { required, type Settings } from "../config.ts";
import { openInput } from "../files/lines.ts";
import { importDataset } from "../snapshot/build/import.ts";
import { createProgress, type Progress } from "./progress.ts";
import { describeCounts, describeSkipped, reportErrors, reportSkipped } from "./report.ts";

export async function runImport(settings: Settings): Promise<number> {
  const [dataset = ""] = settings.words;
  const target = required(settings, "to");
  const options = {
    expectEnd: settings.isOn("expect-end"),
    allowShrink: settings.isOn("allow-shrink"),
    skipInvalid: settings.isOn("skip-invalid"),
  };
  const progress = createProgress();
  const input = readShown(dataset, progress);
  const onIndexed = (share: number) => progress.show("indexing", share);
  const { counts, skipped } = await reportErrors("dataset", () =>
    importDataset(input, target, { ...options, onIndexed }),
  ).finally(progress.end);
  reportSkipped(skipped);
  process.stdout.write(
    `imported ${describeCounts(counts)} to ${target}${describeSkipped(skipped)}\n`,
  );
  return 0;
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
