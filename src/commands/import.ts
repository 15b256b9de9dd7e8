/** `roadbook import`: a dataset becomes a snapshot file. */
import { required, type Settings } from "../config.ts";
import { DatasetError, importDataset } from "../snapshot/import.ts";
import { openInput } from "../snapshot/lines.ts";

export async function runImport(settings: Settings): Promise<number> {
  const [dataset = ""] = settings.words;
  const target = required(settings, "to");
  try {
    const counts = await importDataset(openInput(dataset), target);
    const parts = [
      `${counts.users} users (${counts.public_users} public)`,
      `${counts.companies} companies`,
      `${counts.achievements} achievements`,
      `${counts.roles} roles`,
    ];
    process.stdout.write(`imported ${parts.join(", ")} to ${target}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof DatasetError)) throw error;
    const what = error.count === 1 ? "1 error" : `${error.count} errors`;
    throw new Error(`${what} in the dataset, nothing was written\n${error.message}`);
  }
}
