/** `roadbook export`: writes the dataset that is in a snapshot. */
import { exportDataset } from "../snapshot/read/export.ts";
import { writeLines } from "./output.ts";
import { refuseSameFile } from "./target.ts";

export async function runExport(path: string, to: string | undefined): Promise<void> {
  if (to !== undefined) refuseSameFile(path, to);
  await writeLines(await exportDataset(path), to);
}
