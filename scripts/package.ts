/**
 * `bun run package` makes the npm package in dist/package and packs it. The package contains
 * JavaScript and source maps from tsc, one declaration file per entry point, the assets, and a
 * package.json derived from the project's package.json.
 */
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { Command, Option } from "@commander-js/extra-typings";
import packageJson from "../package.json" with { type: "json" };
import { DEMO_SNAPSHOT, makeAssets } from "../src/assets.ts";
import { describe, sentenceOf } from "../src/commands/help.ts";
import { demoDataset } from "../src/community/community.ts";
import { libraryOptions, type Setting, serveSettings } from "../src/settings.ts";
import { buildSnapshot } from "../src/snapshot/import/import.ts";

const root = join(import.meta.dir, "..");
const tools = join(import.meta.dir, "package");
const values = new Command("bun run package")
  .description("make the npm package in a folder, and the .tgz file next to it")
  .addOption(
    new Option("--out <FOLDER>", "where to write it").default(
      join(root, "dist/package"),
      "dist/package",
    ),
  )
  .parse()
  .opts();
const out = resolve(values.out);
const declarations = `${out}.types`;
/** Modules that have side effects when they are imported. */
const sideEffects = ["bin", "main", "node-version"].map((name) => `./lib/${name}.js`);
const entryPoints = { library: "src/library", elysia: "src/elysia" };

rmSync(out, { recursive: true, force: true });
try {
  run(["node_modules/.bin/tsc", "-p", tools, "--outDir", out, "--declarationDir", declarations]);
  renameSync(join(out, "src"), join(out, "lib"));
  await bundleTypes();
  addInterpreter(join(out, "lib/bin.js"));
  await writeAssets();
  for (const file of ["LICENSE", "CHANGELOG.md"]) copyFileSync(join(root, file), join(out, file));
  copyFileSync(join(tools, "README.md"), join(out, "README.md"));
  writeFileSync(join(out, "package.json"), `${JSON.stringify(createManifest(), null, 2)}\n`);
  run([process.execPath, "pm", "pack", "--quiet", "--destination", ".."], out);
} finally {
  rmSync(declarations, { recursive: true, force: true });
}

/**
 * Writes one declaration file per entry point, with only the types that the entry point uses. Most
 * source files use types from drizzle and Elysia, which do not compile without `skipLibCheck`. Only
 * `roadbook/elysia` needs Elysia's types.
 */
async function bundleTypes(): Promise<void> {
  run([process.execPath, "install", "--frozen-lockfile", "--silent"], tools);
  const require = (name: string) => import(Bun.resolveSync(name, tools));
  const { rolldown } = await require("rolldown");
  const { dts } = await require("rolldown-plugin-dts");
  for (const [name, file] of Object.entries(entryPoints)) {
    const bundle = await rolldown({
      // Makes the paths in generated comments relative to this folder instead of absolute.
      cwd: declarations,
      input: { [name]: join(declarations, `${file}.d.ts`) },
      external: (id: string) => !/^[./]/.test(id),
      plugins: [dts({ dtsInput: true, tsconfig: false })],
    });
    await bundle.write({ dir: join(out, "types"), format: "esm" });
    addHelp(join(out, "types", `${name}.d.ts`));
  }
}

/** Adds the help of each setting as a comment, which editors show for the library's option. */
function addHelp(file: string): void {
  let text = readFileSync(file, "utf8");
  const rows = { ...serveSettings, ...libraryOptions };
  for (const [name, row] of Object.entries<Pick<Setting, "help" | "default" | "libraryHelp">>(
    rows,
  )) {
    const help = sentenceOf(row.libraryHelp ?? describe(row));
    text = text.replaceAll(`\n  ${name}: {\n    `, (found) => `\n  /** ${help} */${found}`);
  }
  writeFileSync(file, text);
}

/** Makes a script executable by adding a first line that runs it with Node.js. */
function addInterpreter(file: string): void {
  writeFileSync(file, `#!/usr/bin/env node\n${readFileSync(file, "utf8")}`);
  chmodSync(file, 0o755);
}

async function writeAssets(): Promise<void> {
  mkdirSync(join(out, "assets"));
  // A release fixes the build time, so that the package is reproducible.
  const { SOURCE_DATE_EPOCH: seconds } = process.env;
  const builtAtMs = seconds ? Number(seconds) * 1000 : undefined;
  const demo = await buildSnapshot(demoDataset(), { builtAtMs });
  const files = { ...(await makeAssets()), [DEMO_SNAPSHOT]: demo };
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(out, "assets", name), content);
  }
}

function createManifest() {
  const { name, version, description, license, type } = packageJson;
  return {
    name,
    version,
    description,
    keywords: ["api", "search", "sqlite", "test-rig", "mock-server"],
    license,
    type,
    sideEffects,
    bin: { roadbook: "./lib/bin.js" },
    engines: { node: ">=22.15", bun: `>=${packageJson.engines.bun}` },
    files: ["lib", "types", "assets", "data", "CHANGELOG.md"],
    imports: { "#sqlite": { bun: "./lib/sqlite/bun.js", node: "./lib/sqlite/node.js" } },
    exports: {
      ".": {
        types: "./types/library.d.ts",
        bun: "./lib/library.js",
        node: "./lib/library.js",
      },
      "./elysia": {
        types: "./types/elysia.d.ts",
        bun: "./lib/elysia.js",
        node: "./lib/elysia.js",
      },
      "./package.json": "./package.json",
    },
    dependencies: listDependencies(),
  };
}

/** Returns the project's dependencies that the package imports, statically or dynamically. */
function listDependencies(): Record<string, string> {
  const imported = new Set<string>();
  for (const file of new Bun.Glob("**/*.{js,d.ts}").scanSync(out)) {
    const text = readFileSync(join(out, file), "utf8");
    for (const [, name = ""] of text.matchAll(/(?:from |import\()"((?:@[^/"]+\/)?[^./"#][^/"]*)/g))
      imported.add(name);
  }
  return Object.fromEntries(
    Object.entries(packageJson.dependencies).filter(([name]) => imported.has(name)),
  );
}

function run(command: string[], cwd = root): void {
  const { success } = Bun.spawnSync(command, { cwd, stdio: ["ignore", "inherit", "inherit"] });
  if (!success) throw new Error(`${command.join(" ")} failed`);
}
