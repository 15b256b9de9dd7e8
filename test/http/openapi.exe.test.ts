/** The executable's OpenAPI document passes third-party linters and works in a client generator. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { lintFromString, loadConfig } from "@redocly/openapi-core";
import { type RulesetDefinition, Spectral } from "@stoplight/spectral-core";
import { oas } from "@stoplight/spectral-rulesets";
import { openExecutable, root } from "../support.ts";

const target = await openExecutable([]);
const source = await (await target.fetch("/docs/json")).text();
await target.close();

describe("no problems are reported by", () => {
  test("Redocly with its strictest rules", async () => {
    const config = await loadConfig({ configPath: join(root, ".redocly.yaml") });
    const problems = await lintFromString({ source, absoluteRef: "openapi.json", config });
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  });

  test("Spectral", async () => {
    const spectral = new Spectral();
    spectral.setRuleset({ extends: [oas as RulesetDefinition] });
    const problems = await spectral.run(JSON.parse(source));
    expect(problems.map(({ code, path, message }) => `${code}: ${path}: ${message}`)).toEqual([]);
  });
});
