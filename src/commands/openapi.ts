/** `roadbook openapi`: prints the document that /docs/json serves. */
import { openApiDocument } from "../http/openapi.ts";
import { writeStdout } from "./output.ts";

/** `publicUrl` is the server that the document names. */
export async function runOpenapi({ publicUrl }: { publicUrl: string }): Promise<void> {
  const text = await openApiDocument(publicUrl.replace(/\/+$/, ""));
  writeStdout(`${JSON.stringify(JSON.parse(text), null, 2)}\n`);
}
