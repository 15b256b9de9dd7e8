/** `roadbook import`: a dataset becomes a snapshot file. */
import { statSync } from "node:fs";
import { required, type Settings } from "../config.ts";
import { openInput } from "../files/lines.ts";
import { importDataset } from "../snapshot/build/import.ts";
import { createProgress, type Progress } from "./progress.ts";
import { describeCounts, tellFaults } from "./report.ts";

export async function runImport(settings: Settings): Promise<number> {
  const [dataset = ""] = settings.words;
  const target = required(settings, "to");
  const progress = createProgress();
  const input = readShown(dataset, progress);
  const onIndexed = (share: number) => progress.show("indexing", share);
  const counts = await tellFaults("dataset", () => importDataset(input, target, onIndexed)).finally(
    progress.end,
  );
  process.stdout.write(`imported ${describeCounts(counts)} to ${target}\n`);
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
    yield chunk;
  }
}
