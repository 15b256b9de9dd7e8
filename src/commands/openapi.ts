/** `roadbook openapi`: prints the document that /docs/json serves. */
import { createRoadbook } from "../roadbook.ts";
import { writeStdout } from "./output.ts";

export async function runOpenapi(): Promise<void> {
  const roadbook = await createRoadbook({ dataset: [] });
  const response = await roadbook.fetch(new Request("http://localhost/docs/json"));
  const document = await response.json();
  await roadbook.close();
  writeStdout(`${JSON.stringify(document, null, 2)}\n`);
}
