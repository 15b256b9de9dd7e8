/** `roadbook schema`: prints the JSON Schema of the dataset's lines. */
import { datasetSchema } from "../domain/json-schema.ts";

export async function runSchema(): Promise<number> {
  process.stdout.write(`${JSON.stringify(datasetSchema(), null, 2)}\n`);
  return 0;
}
