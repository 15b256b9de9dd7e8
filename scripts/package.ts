/**
 * `bun run package` makes the npm package in dist/package and packs it. The package contains
 * JavaScript compiled by tsc and bundled by rolldown, one declaration file per entry point, the
 * assets, and a package.json derived from the project's package.json.
 */
import { hash } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import packageJson from "../package.json" with { type: "json" };
import { describe, sentenceOf } from "../src/commands/help.ts";
import { demoDataset } from "../src/community/community.ts";
import { buildSnapshot } from "../src/import/import.ts";
import { libraryOptions } from "../src/settings/library-options.ts";
import { serveSettings } from "../src/settings/serve-flags.ts";
import type { Setting } from "../src/settings/setting.ts";
import { DEMO_SNAPSHOT, LICENCES, makeAssets } from "../src/web/assets.ts";
import { external, formatBom, formatLicences, listParts, type Part } from "./release/parts.ts";
import { webAddress } from "./release/version.ts";

const root = join(import.meta.dir, "..");
const tools = join(import.meta.dir, "package");
const { values } = parseArgs({
  options: { out: { type: "string", default: join(root, "dist/package") } },
});
const out = resolve(values.out);
/** In the project, wherever `out` is, because comments in the bundle have paths relative to it. */
const compiled = mkdtempSync(join(root, ".package-"));
const entryPoints = { library: "src/library", elysia: "src/elysia" };
/** Modules that are imported by path, or that must run before anything else is imported. */
const modules = {
  bin: "src/main",
  "require-runtime": "src/server/require-runtime",
  "sqlite/bun": "src/sqlite/bun",
  "sqlite/node": "src/sqlite/node",
};
/**
 * The packages that are not bundled. An app is mounted in another only if both use the same copy of
 * Elysia, so the host's copy is used. Elysia shares TypeBox with its users. better-sqlite3 contains
 * compiled code.
 */
const peers = { elysia: ">=1.4.28 <1.5" };
const dependencies = ["@sinclair/typebox", "better-sqlite3"] as const;
const tested = { ...packageJson.dependencies, ...packageJson.devDependencies };

rmSync(out, { recursive: true, force: true });
// The modes of files are part of the tarball, and must not depend on the user who builds it.
process.umask(0o022);
try {
  run(["node_modules/.bin/tsc", "-p", tools, "--outDir", compiled]);
  run([process.execPath, "install", "--frozen-lockfile", "--silent"], tools);
  const bundled = await bundleCode();
  hideTypes();
  await bundleTypes();
  const bin = join(out, "lib/bin.js");
  writeFileSync(bin, `#!/usr/bin/env node\n${readFileSync(bin, "utf8")}`);
  chmodSync(bin, 0o755);
  const parts = await listParts(bundled);
  await writeAssets(parts);
  for (const path of ["LICENSE", "CHANGELOG.md", "scripts/package/README.md"]) {
    writeFileSync(join(out, basename(path)), readFileSync(join(root, path)));
  }
  const manifest = createManifest();
  writeFileSync(join(out, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  run([process.execPath, "pm", "pack", "--quiet", "--destination", ".."], out);
  const tarball = join(out, `../${manifest.name}-${manifest.version}.tgz`);
  const sha256 = hash("sha256", readFileSync(tarball));
  writeFileSync(`${tarball}.cdx.json`, formatBom({ name: basename(tarball), sha256 }, parts));
} finally {
  rmSync(compiled, { recursive: true, force: true });
}

/**
 * Bundles the code with the packages that it uses, because Node.js takes a millisecond or more for
 * each file that it imports. Returns the paths of all modules in the bundle.
 */
async function bundleCode(): Promise<string[]> {
  const { rolldown } = await requireTool("rolldown");
  const input = Object.entries({ ...entryPoints, ...modules }).map(([name, file]) => [
    name,
    join(compiled, `${file}.js`),
  ]);
  const bundle = await rolldown({
    cwd: compiled,
    input: Object.fromEntries(input),
    platform: "node",
    // Relative to the root, where the packages are installed.
    resolve: { modules: ["node_modules", join(root, "node_modules")] },
    external: [
      /^(?:bun|#sqlite)$/,
      /^(?:bun|node):/,
      ...[...external, ...dependencies, ...Object.keys(peers)].map(
        (name) => new RegExp(`^${name}(?:/|$)`),
      ),
    ],
  });
  const { output } = await bundle.write({ dir: join(out, "lib"), format: "esm" });
  return output.flatMap((file: { moduleIds?: string[] }) => file.moduleIds ?? []);
}

function requireTool(name: string) {
  return import(Bun.resolveSync(name, tools));
}

/**
 * Removes types of bundled libraries, with which no program could compile. Nothing that the package
 * exports depends on them.
 */
function hideTypes(): void {
  const hidden = [
    { file: "src/http/app.d.ts", from: "createApp(options: AppOptions)", to: "createApp()" },
    {
      file: "src/limit/client-address.d.ts",
      from: "type Address = ipaddr.IPv4 | ipaddr.IPv6;",
      to: "type Address = object;",
    },
  ];
  for (const { file, from, to } of hidden) {
    const path = join(compiled, file);
    const text = readFileSync(path, "utf8");
    if (!text.includes(from)) throw new Error(`${file} does not have ${from}`);
    writeFileSync(path, text.replace(from, to));
  }
}

/**
 * Writes one declaration file per entry point, with only the types that the entry point uses. Most
 * source files use types from drizzle and Elysia, which do not compile without `skipLibCheck`. Only
 * `roadbook/elysia` needs Elysia's types.
 */
async function bundleTypes(): Promise<void> {
  const { rolldown } = await requireTool("rolldown");
  const { dts } = await requireTool("rolldown-plugin-dts");
  for (const [name, file] of Object.entries(entryPoints)) {
    const bundle = await rolldown({
      // Makes the paths in generated comments relative to this folder instead of absolute.
      cwd: compiled,
      input: { [name]: join(compiled, `${file}.d.ts`) },
      external: (id: string) => !/^[./]/.test(id) || id.endsWith(".json"),
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
  for (const [name, row] of Object.entries<Pick<Setting, "help" | "default">>(rows)) {
    const help = sentenceOf(describe(row));
    text = text.replaceAll(`\n  ${name}: {\n    `, (found) => `\n  /** ${help} */${found}`);
  }
  writeFileSync(file, text);
}

async function writeAssets(parts: readonly Part[]): Promise<void> {
  mkdirSync(join(out, "assets"));
  // A release fixes the build time, so that the package is reproducible.
  const { SOURCE_DATE_EPOCH: seconds } = process.env;
  const builtAtMs = seconds ? Number(seconds) * 1000 : undefined;
  const demo = await buildSnapshot(demoDataset(), { builtAtMs });
  const files = {
    ...(await makeAssets()),
    [DEMO_SNAPSHOT]: demo,
    [LICENCES]: formatLicences(parts),
    "parts.cdx.json": formatBom({ name: packageJson.name }, parts),
  };
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(out, "assets", name), content);
  }
}

function createManifest() {
  const { name, version, description, license, author, repository } = packageJson;
  return {
    name,
    version,
    description,
    keywords: ["api", "search", "sqlite", "test-rig", "mock-server"],
    license,
    author,
    homepage: webAddress,
    repository,
    type: packageJson.type,
    // Modules that have side effects when they are imported.
    sideEffects: ["./lib/bin.js", "./lib/require-runtime.js"],
    bin: { roadbook: "./lib/bin.js" },
    engines: { node: ">=22.15", bun: `>=${packageJson.engines.bun}` },
    files: ["lib", "types", "assets", "CHANGELOG.md"],
    imports: { "#sqlite": { bun: "./lib/sqlite/bun.js", node: "./lib/sqlite/node.js" } },
    exports: {
      ".": { types: "./types/library.d.ts", bun: "./lib/library.js", node: "./lib/library.js" },
      "./elysia": { types: "./types/elysia.d.ts", bun: "./lib/elysia.js", node: "./lib/elysia.js" },
      "./package.json": "./package.json",
    },
    dependencies: Object.fromEntries(dependencies.map((name) => [name, tested[name]])),
    peerDependencies: peers,
  };
}

function run(command: string[], cwd = root): void {
  const { success } = Bun.spawnSync(command, { cwd, stdio: ["ignore", "inherit", "inherit"] });
  if (!success) throw new Error(`${command.join(" ")} failed`);
}
