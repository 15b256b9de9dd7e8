/** The commands that print a document: the JSON Schema, the OpenAPI document and the licences. */
import { DEFAULT_ORIGIN } from "../server/address.ts";
import { declare } from "../settings/setting.ts";
import * as types from "../settings/value-types.ts";
import { DOCUMENT_PATH } from "../web/page.ts";
import { command } from "./command.ts";
import { writeStdout } from "./terminal.ts";

export const schemaCommand = command({
  settings: {},
  examples: ["schema > dataset.schema.json", "schema | head -n 20"],
  async run() {
    const { datasetSchema } = await import("../domain/dataset.ts");
    writeStdout(`${JSON.stringify(datasetSchema(), null, 2)}\n`);
  },
});

export const openapiCommand = command({
  settings: declare("Flags", {
    publicUrl: { type: types.publicBaseUrl, default: DEFAULT_ORIGIN, help: "the server URL" },
  }),
  examples: [
    "openapi > openapi.json",
    "openapi --public-url https://api.example.org > openapi.json",
  ],
  async run({ publicUrl }) {
    const { createRoadbook } = await import("../roadbook.ts");
    await using roadbook = await createRoadbook({ demo: true, publicUrl });
    const response = await roadbook.fetch(new Request(DEFAULT_ORIGIN + DOCUMENT_PATH));
    writeStdout(`${JSON.stringify(await response.json(), null, 2)}\n`);
  },
});

export const licencesCommand = command({
  settings: {},
  examples: ["licences > LICENCES.txt", "licences | grep -i sqlite"],
  async run() {
    const { findBundled, LICENCES } = await import("../web/assets.ts");
    const text = findBundled(LICENCES);
    if (!text) {
      throw new Error("only the executable contains the licences; build it with `bun run build`");
    }
    writeStdout(new TextDecoder().decode(text));
  },
});
