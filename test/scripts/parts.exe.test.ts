/** The licences that the executable prints, and the CycloneDX list of its parts. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { Spec, Validation } from "@cyclonedx/cyclonedx-library";
import { dependencies } from "../../package.json" with { type: "json" };
import { external, formatBom, listExecutableParts } from "../../scripts/release/parts.ts";
import { roadbook, root } from "../support.ts";

test("the executable prints the licences of its packages, of Bun and of Bun's libraries", async () => {
  const { code, stdout } = await roadbook(["licences"]);
  expect(code).toBe(0);
  const bundled = Object.keys(dependencies).filter((name) => !external.includes(name));
  const packages = [...bundled, "@phosphor-icons/core", "vue", "bun"];
  for (const name of packages) expect([name, stdout.includes(`\n${name} `)]).toEqual([name, true]);
  for (const part of ["JavaScriptCore and WebKit", "tinycc"]) {
    expect(
      stdout.includes(`\n${part} ${process.versions[part] ?? process.versions.webkit} (LGPL`),
    ).toBe(true);
  }
  expect(stdout.includes(`\nsqlite ${process.versions.sqlite} (public domain)`)).toBe(true);
  for (const text of ["The MIT License (MIT)", "GNU LIBRARY GENERAL PUBLIC LICENSE"])
    expect(stdout).toContain(text);
});

test("every package in the executable has its licence there", async () => {
  const built = await Bun.build({
    entrypoints: [join(root, "src/main.ts"), join(root, "src/web/browser.ts")],
    target: "bun",
    external,
    sourcemap: "external",
  });
  const maps = built.outputs.filter(({ kind }) => kind === "sourcemap");
  const texts = await Promise.all(maps.map((map) => map.text()));
  const sources = texts.flatMap((text): string[] => JSON.parse(text).sources);
  const names = sources.flatMap((path) => path.split("node_modules/").slice(1).at(-1) ?? []);
  const packages = new Set(names.map((name) => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name));
  expect(packages.size).toBeGreaterThan(30);
  const { stdout } = await roadbook(["licences"]);
  for (const name of packages) expect([name, stdout.includes(`\n${name} `)]).toEqual([name, true]);
});

test("a library in Bun has the version that Bun reports", async () => {
  const versions = (await listExecutableParts()).map(({ version }) => version);
  // These are the compatible version of something else, or a compiler that is not in Bun.
  const { node, v8, openssl, napi, modules, unicode, typescript, ...libraries } = process.versions;
  for (const version of Object.values(libraries)) expect(versions).toContain(version);
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
