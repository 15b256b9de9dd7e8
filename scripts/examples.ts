/**
 * Writes src/http/examples.json: what the demo responds with to the example of each documented route.
 * `bun scripts/examples.ts`, when the demo has changed.
 */
import { join } from "node:path";
import { demoSnapshot } from "../src/assets.ts";
import { ORIGIN } from "../src/http/openapi.ts";
import { routes } from "../src/http/routes.ts";
import { createRoadbook } from "../src/roadbook.ts";

const roadbook = await createRoadbook({ snapshot: await demoSnapshot() });
const bodies: Record<string, unknown> = {};
for (const route of routes) {
  const { name, path, operation } = route;
  if (!operation) continue;
  const { parameter } = operation;
  const value = encodeURIComponent(String(parameter?.example));
  const query = parameter?.in === "query" ? `?${parameter.name}=${value}` : "";
  const url = ORIGIN + path.replace(`:${parameter?.name}`, value) + query;
  bodies[name] = await (await roadbook.fetch(new Request(url))).json();
}
roadbook.close();
await Bun.write(
  join(import.meta.dir, "../src/http/examples.json"),
  `${JSON.stringify(bodies, null, 2)}\n`,
);
