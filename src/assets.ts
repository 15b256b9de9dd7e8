/**
 * The files that come with Roadbook: the demo, the docs page's script, the web page's script and
 * style, and the licences. scripts/build.ts embeds them in the executable, and scripts/package.ts
 * adds them to the package. When Roadbook runs from source, Bun builds each file when it is first
 * needed.
 */
import crypto from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import type { PageAssets } from "./http/pages.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** The name of the demo's snapshot in the executable and in the package's `assets` folder. */
export const DEMO_SNAPSHOT = "demo.snapshot";
/** The name of the file with the licences of all parts, in the executable and in the package. */
export const LICENCES = "licences.txt";
/** The name of the snapshot that `build --dataset` embeds in place of the demo. */
export const OWN_SNAPSHOT = "own.snapshot";
/** The function that makes each file, except for the demo. */
const makers = {
  "scalar.js.gz": packDocsScript,
  "page.css.asset": () => bundle("web/style.css"),
  "page.js.asset": () => bundle("web/browser.ts"),
};

/** Returns the demo's snapshot, or the snapshot that replaces it. */
export async function demoSnapshot(): Promise<Uint8Array> {
  const ready = await findReady(findEmbedded(OWN_SNAPSHOT) ? OWN_SNAPSHOT : DEMO_SNAPSHOT);
  if (ready) return ready;
  const { demoDataset } = await import("./community/community.ts");
  const { buildSnapshot } = await import("./snapshot/import/import.ts");
  return buildSnapshot(demoDataset());
}

/** Returns the licences of all parts. Only a build knows its parts. */
export async function licences(): Promise<string> {
  const text = await findReady(LICENCES);
  if (text) return new TextDecoder().decode(text);
  throw new Error("the licences are part of the executable only; make it with `bun run build`");
}

/** Makes every file except the demo, keyed by name. */
export async function makeAssets(): Promise<Record<string, Bytes>> {
  const made = Object.entries(makers).map(async ([name, make]) => [name, await make()]);
  return Object.fromEntries(await Promise.all(made));
}

/** Returns the docs page's script, gzip-compressed (1.3 MB). */
export function docsScript(): Promise<Bytes> {
  return readAsset("scalar.js.gz");
}

/** Returns the web page's script and style. */
export async function pageAssets(): Promise<PageAssets> {
  return {
    script: await readPageAsset("page.js.asset"),
    style: await readPageAsset("page.css.asset"),
  };
}

/** The served file name contains a hash of the content, so the name changes with the content. */
async function readPageAsset(
  asset: "page.js.asset" | "page.css.asset",
): Promise<PageAssets["script"]> {
  const text = new TextDecoder().decode(await readAsset(asset));
  const digest = crypto.hash("sha256", text);
  const [name, ending] = asset.split(".");
  return { file: `${name}-${digest.slice(0, 12)}.${ending}`, text };
}

const assets: Partial<Record<keyof typeof makers, Promise<Bytes>>> = {};

/** Only the first call for a name reads or makes the file. */
function readAsset(name: keyof typeof makers): Promise<Bytes> {
  assets[name] ??= findReady(name).then((ready) => ready ?? makers[name]());
  return assets[name];
}

/**
 * Scalar's package does not export its browser bundle, but the bundle is next to the entry point.
 */
function packDocsScript(): Bytes {
  const entry = Bun.resolveSync("@scalar/api-reference", import.meta.dir);
  return gzipSync(readFileSync(join(dirname(entry), "browser/standalone.js")), { level: 9 });
}

async function bundle(file: string): Promise<Bytes> {
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, file)],
    target: "browser",
    format: "iife",
    minify: true,
  });
  return new TextEncoder().encode(await outputs[0]?.text());
}

/** The file from the executable or the package; undefined when Roadbook runs from source. */
async function findReady(name: string): Promise<Bytes | undefined> {
  const embedded = findEmbedded(name);
  if (embedded) return embedded.bytes();
  const file = new URL(`../assets/${name}`, import.meta.url);
  return existsSync(file) ? readFileSync(file) : undefined;
}

function findEmbedded(name: string): Blob | undefined {
  return globalThis.Bun?.embeddedFiles.find((blob) => "name" in blob && blob.name === name);
}
