/** `roadbook schema`: prints the JSON Schema of the dataset's lines. */
import { datasetSchema } from "../domain/dataset.ts";
import { writeStdout } from "./output.ts";

export function runSchema(): void {
  writeStdout(`${JSON.stringify(datasetSchema(), null, 2)}\n`);
}
