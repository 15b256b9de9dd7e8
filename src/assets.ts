/**
 * The files that come with Roadbook: the demo and the script of the docs page. The executable holds
 * them ready made (scripts/build.ts puts them in); run from source, they are made when first needed.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import demo from "../data/demo.json" with { type: "json" };
import type { PageAsset, PageAssets } from "./http/pages.ts";
import { buildSnapshot } from "./roadbook.ts";

/** The names of the files inside the executable. */
export const DEMO_SNAPSHOT = "demo.snapshot";
export const DOCS_SCRIPT = "scalar.js.gz";
export const PAGE_SCRIPT = "page.js.asset";
export const PAGE_STYLE = "page.css.asset";

/** The start of the page shows so many of the demo's notable drivers. */
const MAX_FEATURED = 12;

/** The ids of the demo's notable drivers, whom its start shows. */
export const demoFeaturedIds = demo.users
  .flatMap((user) => ("note" in user ? [user.id] : []))
  .slice(0, MAX_FEATURED);

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

let assets: Promise<PageAssets> | undefined;

/** The script and the style of the page for people, made once. */
export function pageAssets(): Promise<PageAssets> {
  assets ??= readPageAssets();
  return assets;
}

async function readPageAssets(): Promise<PageAssets> {
  const [script, style] = await Promise.all([
    findEmbedded(PAGE_SCRIPT).then((bytes) => (bytes ? textOf(bytes) : bundlePageScript())),
    findEmbedded(PAGE_STYLE).then((bytes) => (bytes ? textOf(bytes) : bundlePageStyle())),
  ]);
  return {
    script: nameByContent("page", "js", script),
    style: nameByContent("page", "css", style),
  };
}

export function bundlePageScript(): Promise<string> {
  return bundle("web/client.ts");
}

export function bundlePageStyle(): Promise<string> {
  return bundle("web/style.css");
}

async function bundle(file: string): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, file)],
    target: "browser",
    minify: true,
  });
  return (await outputs[0]?.text()) ?? "";
}

function nameByContent(name: string, ending: string, text: string): PageAsset {
  return { file: `${name}-${Bun.hash(text).toString(36)}.${ending}`, text };
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

async function findEmbedded(name: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const file = Bun.embeddedFiles.find((blob) => "name" in blob && blob.name === name);
  return file && new Uint8Array(await file.arrayBuffer());
}
