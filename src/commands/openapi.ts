/** `roadbook openapi`: prints the document that /docs/json serves. */
import { createOpenApiDocument } from "../http/docs.ts";
import { routesWith } from "../http/routes.ts";
import { writeStdout } from "./output.ts";

/** `publicUrl` is the server that the document names. */
export async function runOpenapi({ publicUrl }: { publicUrl: string }): Promise<void> {
  const document = createOpenApiDocument(routesWith({ page: undefined }));
  const text = await document.at(publicUrl.replace(/\/+$/, ""));
  writeStdout(`${JSON.stringify(JSON.parse(text), null, 2)}\n`);
}
