/** The OpenAPI document that the executable serves, as the tools of others take it. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { lintFromString, loadConfig } from "@redocly/openapi-core";
import { type RulesetDefinition, Spectral } from "@stoplight/spectral-core";
import { oas } from "@stoplight/spectral-rulesets";
import { openExecutable, root, run } from "../support.ts";

const target = await openExecutable([]);
const source = await (await target.fetch("/docs/json")).text();
await target.close();

describe("a linter has nothing to say:", () => {
  test("Redocly's, with its strictest rules", async () => {
    const config = await loadConfig({ configPath: join(root, ".redocly.yaml") });
    const problems = await lintFromString({ source, absoluteRef: "openapi.json", config });
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  });

  test("Spectral's", async () => {
    const spectral = new Spectral();
    spectral.setRuleset({ extends: [oas as RulesetDefinition] });
    const problems = await spectral.run(JSON.parse(source));
    expect(problems.map(({ code, path, message }) => `${code}: ${path}: ${message}`)).toEqual([]);
  });
});

test("the types of a client are those of this document", async () => {
  const { stdout, stderr } = await run([process.execPath, "scripts/api-types.ts"], { cwd: root });
  expect(stderr).toBe("");
  expect(await Bun.file(join(import.meta.dir, "api-types.ts")).text()).toBe(stdout);
});
