/** `roadbook export`: writes the dataset that is in a snapshot. */
import { exportDataset } from "../snapshot/read/export.ts";
import { writeLines } from "./output.ts";

export async function runExport(path: string, to: string | undefined): Promise<void> {
  await writeLines(exportDataset(path), to);
}
