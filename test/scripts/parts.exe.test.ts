/** The licences that the executable prints, and the CycloneDX list of its parts. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import Ajv from "ajv";
import addFormats from "ajv-formats";
import { formatBom, listExecutableParts } from "../../scripts/release/parts.ts";
import { roadbook, root } from "../support.ts";

test("every package in the bundle, Bun and its libraries are named with their licences", async () => {
  const { code, stdout } = await roadbook(["licences"]);
  expect(code).toBe(0);
  const { metafile } = await Bun.build({
    entrypoints: [join(root, "src/main.ts")],
    target: "bun",
    external: ["better-sqlite3"],
    metafile: true,
  });
  const files = Object.keys(metafile?.inputs ?? {}).join("\n");
  const names = new Set(files.match(/(?<=node_modules\/)(?:@[^/]+\/)?[^/]+(?=\/[^\n]*$)/gm));
  expect(names.size).toBeGreaterThan(40);
  for (const name of [...names, "vue", "bun"]) expect(stdout).toContain(`\n${name} `);
  for (const part of [
    "JavaScriptCore and WebKit (LGPL",
    "tinycc (LGPL",
    "sqlite (public domain)",
  ]) {
    expect(stdout).toContain(`\n${part}`);
  }
  for (const text of ["The MIT License (MIT)", "GNU LIBRARY GENERAL PUBLIC LICENSE", "LGPL-2"]) {
    expect(stdout).toContain(text);
  }
});

test("the list of parts is valid CycloneDX, and the same parts give the same bytes", async () => {
  const folder = join(root, "node_modules/@cyclonedx/cyclonedx-library/res/schema");
  const schema = (file: string) => JSON.parse(readFileSync(join(folder, file), "utf8"));
  const ajv = new Ajv({ strict: false, logger: false });
  for (const file of ["jsf-0.82.SNAPSHOT.schema.json", "spdx.SNAPSHOT.schema.json"]) {
    ajv.addSchema({ ...schema(file), $id: `http://cyclonedx.org/schema/${file}` });
  }
  addFormats(ajv);
  ajv.addFormat("idn-email", true);
  const validate = ajv.compile(schema("bom-1.6.SNAPSHOT.schema.json"));
  const parts = await listExecutableParts();
  const file = { name: "roadbook-linux-x64", sha256: "0".repeat(64) };
  const bom = formatBom(file, parts);
  validate(JSON.parse(bom));
  expect(validate.errors).toBeNull();
  expect(bom.includes('"purl": "pkg:npm/%40sinclair/typebox@')).toBe(true);
  expect(formatBom(file, parts) === bom).toBe(true);
});
