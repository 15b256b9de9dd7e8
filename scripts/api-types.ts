/**
 * Prints the types that a client of the API has by openapi-typescript: `bun scripts/api-types.ts >
 * test/http/api-types.ts`, when the document has changed.
 */
import { openApiDocument } from "../src/http/openapi.ts";

// The generator works with the compiler's API, which TypeScript 7 does not have.
Bun.plugin({
  name: "typescript 5",
  setup(build) {
    build.module("typescript", async () => ({
      exports: await import("typescript-5"),
      loader: "object",
    }));
  },
});

const { default: createTypes, astToString } = await import("openapi-typescript");
const { paths, ...rest } = JSON.parse(
  await openApiDocument("http://127.0.0.1:3000"),
  // Examples would be comments, with the version among them.
  (key, value) => (/^examples?$/.test(key) ? undefined : value),
);
// A client reads; HEAD and OPTIONS would be twice as much again.
const read = Object.entries<{ get: object }>(paths).map(([path, { get }]) => [path, { get }]);
const types = await createTypes({ ...rest, paths: Object.fromEntries(read) }, { silent: true });
process.stdout.write(
  `/** Made by scripts/api-types.ts of the OpenAPI document. */\n${astToString(types)}`,
);
