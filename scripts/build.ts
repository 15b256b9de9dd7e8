/**
 * Builds dist/roadbook: one executable with Bun, the code, the demo's snapshot and the docs page in
 * it. `bun run build [--outfile FILE] [--target bun-linux-arm64]`.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import {
  bundlePageScript,
  bundlePageStyle,
  DEMO_SNAPSHOT,
  DOCS_SCRIPT,
  demoSnapshot,
  PAGE_SCRIPT,
  PAGE_STYLE,
  packDocsScript,
} from "../src/assets.ts";

const root = join(import.meta.dir, "..");
const { values } = parseArgs({
  options: { outfile: { type: "string" }, target: { type: "string" } },
});
const outfile = resolve(values.outfile ?? join(root, "dist/roadbook"));
mkdirSync(dirname(outfile), { recursive: true });
const folder = mkdtempSync(join(dirname(outfile), ".build-"));
try {
  const embedded = {
    [DEMO_SNAPSHOT]: await demoSnapshot(),
    [DOCS_SCRIPT]: packDocsScript(),
    [PAGE_SCRIPT]: await bundlePageScript(),
    [PAGE_STYLE]: await bundlePageStyle(),
  };
  const files = Object.entries(embedded).map(([name, content]) => {
    const file = join(folder, name);
    writeFileSync(file, content);
    return file;
  });
  await Bun.build({
    entrypoints: [join(root, "src/main.ts"), ...files],
    target: "bun",
    // Not identifiers: Elysia reads the source of handlers to see what they use.
    minify: { whitespace: true, syntax: true },
    bytecode: true,
    // A command's code in a file of its own, loaded when it runs; Bun divides modules only.
    format: "esm",
    splitting: true,
    naming: { asset: "[name].[ext]" },
    loader: { ".snapshot": "file", ".gz": "file", ".asset": "file" },
    // Under Bun the seam is bun:sqlite; better-sqlite3 must not come along.
    external: ["better-sqlite3"],
    compile: {
      outfile,
      // A program takes no settings from files that happen to lie where it is started.
      autoloadDotenv: false,
      autoloadBunfig: false,
      // A query of any length is answered, not cut off at Bun's 16 KB of request head.
      execArgv: ["--max-http-header-size=262144"],
      ...(values.target ? { target: values.target as Bun.Build.CompileTarget } : {}),
    },
  });
  process.stdout.write(`built ${outfile}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
