/** `roadbook import`: a dataset becomes a snapshot file. */
import { statSync } from "node:fs";
import { required, type Settings } from "../config.ts";
import { DatasetError, importDataset } from "../snapshot/import.ts";
import { openInput } from "../snapshot/lines.ts";
import { createProgress, type Progress } from "./progress.ts";

export async function runImport(settings: Settings): Promise<number> {
  const [dataset = ""] = settings.words;
  const target = required(settings, "to");
  const progress = createProgress();
  try {
    const counts = await importDataset(readShown(dataset, progress), target, (share) =>
      progress.show("indexing", share),
    );
    progress.end();
    const parts = [
      `${counts.users} users (${counts.public_users} public)`,
      `${counts.companies} companies`,
      `${counts.achievements} achievements`,
      `${counts.roles} roles`,
    ];
    process.stdout.write(`imported ${parts.join(", ")} to ${target}\n`);
    return 0;
  } catch (error) {
    progress.end();
    if (!(error instanceof DatasetError)) throw error;
    const what = error.count === 1 ? "1 error" : `${error.count} errors`;
    throw new Error(`${what} in the dataset, nothing was written\n${error.message}`);
  }
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
