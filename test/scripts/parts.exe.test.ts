/** The licences that the executable prints, and the CycloneDX list of its parts. */
import { expect, test } from "bun:test";
import { Spec, Validation } from "@cyclonedx/cyclonedx-library";
import { dependencies } from "../../package.json" with { type: "json" };
import { formatBom, listExecutableParts } from "../../scripts/release/parts.ts";
import { roadbook } from "../support.ts";

test("the executable prints the licences of its packages, of Bun and of Bun's libraries", async () => {
  const { code, stdout } = await roadbook(["licences"]);
  expect(code).toBe(0);
  // The executable has only the script of the plugin, and better-sqlite3 is for Node.js.
  const left = ["@scalar/fastify-api-reference", "better-sqlite3"];
  const bundled = Object.keys(dependencies).filter((name) => !left.includes(name));
  const packages = [...bundled, "@phosphor-icons/core", "vue", "bun"];
  for (const name of packages) expect(stdout).toContain(`\n${name} `);
  for (const part of ["JavaScriptCore and WebKit (LGPL", "tinycc (LGPL", "sqlite (public domain)"])
    expect(stdout).toContain(`\n${part}`);
  for (const text of ["The MIT License (MIT)", "GNU LIBRARY GENERAL PUBLIC LICENSE"])
    expect(stdout).toContain(text);
});

test("the list of parts is valid CycloneDX, and the same parts give the same bytes", async () => {
  const parts = await listExecutableParts();
  const file = { name: "roadbook-linux-x64", sha256: "0".repeat(64) };
  const bom = formatBom(file, parts);
  expect(formatBom(file, parts) === bom).toBe(true);
  expect(bom.includes('"purl": "pkg:npm/%40sinclair/typebox@')).toBe(true);
  const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);
  expect(await validator.validate(bom)).toBeNull();
});
