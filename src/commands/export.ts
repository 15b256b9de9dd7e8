/** `roadbook export`: writes the dataset that is in a snapshot. */
import type { Settings } from "../config.ts";
import { exportDataset } from "../snapshot/read/export.ts";
import { writeLines } from "./output.ts";

export async function runExport(settings: Settings): Promise<number> {
  const [path = ""] = settings.words;
  await writeLines(exportDataset(path), settings.text("to"));
  return 0;
}
