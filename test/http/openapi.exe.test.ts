/** The OpenAPI document of the executable, in linters and a client generator of others. */
import { describe, expect, test } from "bun:test";
import { copyFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { lintFromString, loadConfig } from "@redocly/openapi-core";
import { type RulesetDefinition, Spectral } from "@stoplight/spectral-core";
import { oas } from "@stoplight/spectral-rulesets";
import {
  community,
  importByExecutable,
  openExecutable,
  root,
  run,
  temporaryFolder,
} from "../support.ts";

const target = await openExecutable([]);
const source = await (await target.fetch("/docs/json")).text();
await target.close();

describe("a linter reports nothing:", () => {
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

test("a client of openapi-typescript compiles and reads all without a cast", async () => {
  // The generator uses the compiler's API, which TypeScript 7 lacks.
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
  const folder = temporaryFolder();
  const types = await createTypes(source, { silent: true });
  await Bun.write(join(folder, "api-types.ts"), astToString(types));
  copyFileSync(join(root, "test/examples/openapi/client.ts"), join(folder, "client.ts"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const config = { extends: join(root, "tsconfig.json"), include: ["*.ts"], exclude: [] };
  await Bun.write(join(folder, "tsconfig.json"), JSON.stringify(config));
  const compiled = await run([join(root, "node_modules/.bin/tsc"), "-p", folder]);
  expect(compiled).toEqual({ code: 0, stdout: "", stderr: "" });

  const snapshot = await importByExecutable(community);
  const limited = await openExecutable(["--snapshot", snapshot, "--search-limit", "2"]);
  const { stdout, stderr } = await run([process.execPath, "client.ts", limited.origin], {
    cwd: folder,
  });
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toEqual({
    company: "Baltic Express",
    noCompany: null,
    code: "profile_private",
    points: [0, 25, 5],
    companies: expect.arrayContaining(["Baltic Express"]),
    members: [],
    seconds: expect.any(Number),
    count: expect.any(Number),
  });
  await limited.close();
}, 60_000);
