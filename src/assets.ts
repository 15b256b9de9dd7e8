/**
 * The files that come with Roadbook: the demo, the script of the docs page, the page's own. The
 * executable and the package hold them ready made (scripts/build.ts and scripts/package.ts put them
 * in); run from source, under Bun, they are made when first needed.
 */
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import demo from "../data/demo.json" with { type: "json" };
import { codeOf } from "./files/errors.ts";
import type { PageAsset, PageAssets } from "./http/pages.ts";

/** The names of the files inside the executable, and in the folder `assets` of the package. */
export const DEMO_SNAPSHOT = "demo.snapshot";
/** In the place of the demo, what `build --dataset` was given. */
export const OWN_SNAPSHOT = "own.snapshot";
const DOCS_SCRIPT = "scalar.js.gz";
const PAGE_SCRIPT = "page.js.asset";
const PAGE_STYLE = "page.css.asset";

/** The start of the page shows so many of the demo's notable drivers. */
const MAX_FEATURED = 12;

/** The ids of the demo's notable drivers, whom its start shows; none of other data in its place. */
export function listFeaturedIds(): number[] {
  if (findEmbedded(OWN_SNAPSHOT)) return [];
  return demo.users.flatMap((user) => ("note" in user ? [user.id] : [])).slice(0, MAX_FEATURED);
}

/** The bytes of the demo's snapshot, or of the one in its place. */
export async function demoSnapshot(): Promise<Uint8Array> {
  const embedded = await findReady(findEmbedded(OWN_SNAPSHOT) ? OWN_SNAPSHOT : DEMO_SNAPSHOT);
  if (embedded) return embedded;
  const { demoDataset } = await import("./community/demo.ts");
  const { buildSnapshot } = await import("./snapshot/build/memory.ts");
  return buildSnapshot(demoDataset());
}

/** Makes what is put into the executable and the package beside the demo, by file name. */
export async function makeAssets(): Promise<Record<string, string | Uint8Array>> {
  return {
    [DOCS_SCRIPT]: packDocsScript(),
    [PAGE_SCRIPT]: await bundlePageScript(),
    [PAGE_STYLE]: await bundlePageStyle(),
  };
}

let script: Promise<Uint8Array<ArrayBuffer>> | undefined;

/** The script of the docs page, gzip-compressed; read once, 1.3 MB. */
export function docsScript(): Promise<Uint8Array<ArrayBuffer>> {
  script ??= findReady(DOCS_SCRIPT).then((ready) => ready ?? packDocsScript());
  return script;
}

/** The package exports no path to its browser bundle, so it is found beside its entry. */
function packDocsScript(): Uint8Array<ArrayBuffer> {
  const entry = Bun.resolveSync("@scalar/api-reference", import.meta.dir);
  return process
    .getBuiltinModule("node:zlib")
    .gzipSync(readFileSync(join(dirname(entry), "browser/standalone.js")), { level: 9 });
}

let assets: Promise<PageAssets> | undefined;

/** The script and the style of the page for people, made once. */
export function pageAssets(): Promise<PageAssets> {
  assets ??= readPageAssets();
  return assets;
}

async function readPageAssets(): Promise<PageAssets> {
  const [script, style] = await Promise.all([
    findReady(PAGE_SCRIPT).then((bytes) => (bytes ? textOf(bytes) : bundlePageScript())),
    findReady(PAGE_STYLE).then((bytes) => (bytes ? textOf(bytes) : bundlePageStyle())),
  ]);
  return {
    script: nameByContent("page", "js", script),
    style: nameByContent("page", "css", style),
  };
}

function bundlePageScript(): Promise<string> {
  return bundle("web/browser.ts");
}

function bundlePageStyle(): Promise<string> {
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
  const hash = process.getBuiltinModule("node:crypto").hash("sha256", text);
  return { file: `${name}-${hash.slice(0, 12)}.${ending}`, text };
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** The file as it was put into the executable or the package; undefined when run from source. */
async function findReady(name: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const embedded = findEmbedded(name);
  if (embedded) return new Uint8Array(await embedded.arrayBuffer());
  try {
    return new Uint8Array(await readFile(new URL(`../assets/${name}`, import.meta.url)));
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    return undefined;
  }
}

function findEmbedded(name: string): Blob | undefined {
  if (typeof Bun === "undefined") return undefined;
  return Bun.embeddedFiles.find((blob) => "name" in blob && blob.name === name);
}
