/**
 * The files that come with Roadbook. scripts/build.ts embeds them in the executable, and
 * scripts/package.ts adds them to the package. From source, each is made when it is first needed.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { lazyAsync } from "../domain/lazy.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** The bundled data: the demo, or the dataset of `build --dataset`. */
export const DEMO_SNAPSHOT = "demo.snapshot";
export const LICENCES = "licences.txt";
const makers = {
  "scalar.js.gz": packDocsScript,
  "page.css.asset": () => bundle("style.css"),
  "page.js.asset": () => bundle("browser.ts"),
  "rescue.js.asset": () => bundle("kiosk-rescue.ts"),
};
type AssetName = keyof typeof makers;

export async function makeAssets(): Promise<Record<string, Bytes>> {
  const made = Object.entries(makers).map(async ([name, make]) => [name, await make()]);
  return Object.fromEntries(await Promise.all(made));
}

/** Returns the docs page's script, gzip-compressed (1.3 MB). */
export const docsScript = () => readAsset("scalar.js.gz");

export interface PageAssets {
  script: string;
  style: string;
  /** The script in the head of a kiosk's page. */
  rescue: string;
}

export async function pageAssets(): Promise<PageAssets> {
  return {
    script: await readText("page.js.asset"),
    style: await readText("page.css.asset"),
    rescue: await readText("rescue.js.asset"),
  };
}

async function readText(name: AssetName): Promise<string> {
  return new TextDecoder().decode(await readAsset(name));
}

const assets = new Map<AssetName, () => Promise<Bytes>>();

/** Only the first call for a name reads or makes the file. */
function readAsset(name: AssetName): Promise<Bytes> {
  const asset = assets.get(name) ?? lazyAsync(async () => findBundled(name) ?? makers[name]());
  assets.set(name, asset);
  return asset();
}

/** Scalar's plugin for Fastify serves the script. @scalar/api-reference would install 270 MB more. */
async function packDocsScript(): Promise<Bytes> {
  const { fastify } = await import("fastify");
  const { default: reference } = await import("@scalar/fastify-api-reference");
  const app = fastify();
  await app.register(reference, { configuration: { url: "/" } });
  const { rawPayload } = await app.inject("/reference/js/scalar.js");
  return Bun.gzipSync(new Uint8Array(rawPayload), { level: 9 });
}

async function bundle(file: string): Promise<Bytes> {
  const entrypoints = [join(import.meta.dir, file)];
  const { outputs } = await Bun.build({ entrypoints, format: "iife", minify: true });
  return new TextEncoder().encode(await outputs[0]?.text());
}

/**
 * Returns the file from the executable or the package; undefined if Roadbook runs from source. Looking
 * at `Bun.embeddedFiles` would start a garbage collection.
 */
export function findBundled(name: string): Bytes | undefined {
  const file = new URL(`../assets/${name}`, import.meta.url);
  return existsSync(file) ? readFileSync(file) : undefined;
}
