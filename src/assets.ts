/**
 * The files that come with Roadbook: the demo and the script of the docs page. The executable holds
 * them ready made (scripts/build.ts puts them in); run from source, they are made when first needed.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { buildSnapshot } from "./roadbook.ts";

/** The names of the files inside the executable. */
export const DEMO_SNAPSHOT = "demo.snapshot";
export const DOCS_SCRIPT = "scalar.js.gz";

/** The bytes of the demo's snapshot. */
export async function demoSnapshot(): Promise<Uint8Array> {
  const embedded = await findEmbedded(DEMO_SNAPSHOT);
  if (embedded) return embedded;
  const { demoDataset } = await import("./community/demo.ts");
  return buildSnapshot(demoDataset());
}

/** The script of the docs page, gzip-compressed. */
export async function docsScript(): Promise<Uint8Array<ArrayBuffer>> {
  return (await findEmbedded(DOCS_SCRIPT)) ?? packDocsScript();
}

/** The package exports no path to its browser bundle, so it is found beside its entry. */
export function packDocsScript(): Uint8Array<ArrayBuffer> {
  const entry = Bun.resolveSync("@scalar/api-reference", import.meta.dir);
  return gzipSync(readFileSync(join(dirname(entry), "browser/standalone.js")), { level: 9 });
}

async function findEmbedded(name: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const file = Bun.embeddedFiles.find((blob) => "name" in blob && blob.name === name);
  return file && new Uint8Array(await file.arrayBuffer());
}
