/** The OpenAPI document, besides its operations. */
import { apiVersion } from "../domain/version.ts";
import { API_PREFIX } from "./endpoints.ts";
import { components, ORIGIN } from "./openapi-operations.ts";

const description = `
Public driver profiles, their achievements, and search by company or driver name. The API is
read-only, and these operations respond with JSON. The Users and Search endpoints also exist under /api.

- \`HEAD\` is \`GET\` without a body.
- Send the last \`ETag\` in \`If-None-Match\`. A 304 means that nothing has changed.
- Both searches share one budget per client. \`GET\` and \`HEAD\` use it, \`OPTIONS\` does not. If
  a 429 or 503 has \`Retry-After\`, wait that many seconds.
- A request line and headers of more than 16 KB get a 431 without a body.
- Name your program and a contact in \`User-Agent\`.
`.trim();

/** The parts of the document that no route describes. */
export const documentation = {
  openapi: "3.1.0",
  info: {
    title: "Roadbook",
    description,
    version: apiVersion.slice(1),
    license: { name: "MIT", identifier: "MIT" },
    contact: { name: "The operator of this server", url: ORIGIN },
  },
  servers: [{ url: ORIGIN }, { url: ORIGIN + API_PREFIX }],
  security: [],
  tags: [
    { name: "Users", description: "Public profiles and achievements" },
    { name: "Search", description: "Search for companies and drivers by name" },
    { name: "Service", description: "The state of the service" },
  ],
  components,
};

/** Returns the JSON of a document with the URL at which a client has asked for it. */
export function documentAt(baseUrl: string, document: string): string {
  const url = JSON.stringify(baseUrl).slice(1, -1);
  return document.replaceAll(ORIGIN, () => url);
}
