/**
 * `bun scripts/examples.ts` writes src/http/examples.json, which contains the demo's response to
 * the example request of each documented route. Run it after changing the demo.
 */
import { join } from "node:path";
import { demoSnapshot } from "../src/assets.ts";
import { ORIGIN } from "../src/http/openapi.ts";
import { createRoadbook } from "../src/roadbook.ts";

interface Operation {
  operationId: string;
  parameters?: { in: string; name: string; example: unknown }[];
}

const roadbook = await createRoadbook({ snapshot: await demoSnapshot() });
const bodies: Record<string, unknown> = {};
const document = await (await roadbook.fetch(new Request(`${ORIGIN}/docs/json`))).json();
for (const [path, { get }] of Object.entries<{ get: Operation }>(document.paths)) {
  const [parameter] = get.parameters ?? [];
  const value = encodeURIComponent(String(parameter?.example));
  const query = parameter?.in === "query" ? `?${parameter.name}=${value}` : "";
  const url = ORIGIN + path.replace(`{${parameter?.name}}`, value) + query;
  bodies[get.operationId] = await (await roadbook.fetch(new Request(url))).json();
}
roadbook.close();
await Bun.write(
  join(import.meta.dir, "../src/http/examples.json"),
  `${JSON.stringify(bodies, null, 2)}\n`,
);
