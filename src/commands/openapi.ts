/** `roadbook openapi`: prints the document that /docs/json serves. */
import { createRoadbook } from "../roadbook.ts";

export async function runOpenapi(): Promise<number> {
  const roadbook = await createRoadbook({ dataset: [] });
  const response = await roadbook.fetch(new Request("http://localhost/docs/json"));
  process.stdout.write(`${JSON.stringify(await response.json(), null, 2)}\n`);
  roadbook.close();
  return 0;
}
