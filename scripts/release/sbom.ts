/**
 * `bun scripts/release/sbom.ts FILE…` writes a CycloneDX list of the parts of each executable or
 * Debian package beside it, with `.cdx.json` added to the name. scripts/package.ts
 * makes that of the npm package, and the workflow's build action makes the list of the image.
 */
import { hash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { formatBom, listExecutableParts } from "./parts.ts";

const parts = await listExecutableParts();
for (const file of process.argv.slice(2)) {
  const sha256 = hash("sha256", readFileSync(file));
  writeFileSync(`${file}.cdx.json`, formatBom({ name: basename(file), sha256 }, parts));
}
