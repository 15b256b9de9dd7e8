/**
 * `bun run build` makes the executable, a single file that contains Bun, the code, a snapshot and
 * the assets of the pages. The same commit and the same version of Bun always give the same bytes.
 * scripts/release makes the other files of a release.
 */
import { mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { demoDataset } from "../src/community/community.ts";
import { importDataset } from "../src/library.ts";
import { DEMO_SNAPSHOT, LICENCES, makeAssets } from "../src/web/assets.ts";
import { external, formatLicences, listExecutableParts } from "./release/parts.ts";
import {
  fileNameOf,
  findRuntime,
  isWindows,
  type Platform,
  platforms,
} from "./release/platforms.ts";

const root = join(import.meta.dir, "..");

const { values } = parseArgs({
  options: {
    /** Where to write the executable. */
    outfile: { type: "string", default: join(root, "dist/roadbook") },
    /** Build for this platform instead of the current one. */
    target: { type: "string" },
    /** Bundle this dataset instead of the demo data. */
    dataset: { type: "string" },
    /** Build for every platform into this folder. */
    all: { type: "string" },
  },
});
const target = platforms.find((platform) => platform === values.target);
if (values.target !== undefined && !target) {
  throw new Error(`--target must be one of ${platforms.join(", ")}, got "${values.target}"`);
}
const outfile = resolve(values.outfile);
const out = values.all === undefined ? dirname(outfile) : resolve(values.all);
mkdirSync(out, { recursive: true });
const folder = mkdtempSync(join(out, ".build-"));

try {
  const files = await writeEmbedded();
  if (values.all === undefined) await compile(outfile, files, target);
  else await buildAll(files);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function buildAll(embedded: string[]): Promise<void> {
  for (const platform of platforms) {
    await compile(join(out, fileNameOf(platform)), embedded, platform);
  }
}

async function writeEmbedded(): Promise<string[]> {
  const { dataset } = values;
  const snapshot = join(folder, DEMO_SNAPSHOT);
  const builtAtMs = sourceDateMs() ?? (dataset ? undefined : commitDateMs());
  await importDataset(dataset ?? demoDataset(), snapshot, { builtAtMs });
  const files = [snapshot];
  const licences = formatLicences(await listExecutableParts());
  for (const [name, content] of Object.entries({ ...(await makeAssets()), [LICENCES]: licences })) {
    files.push(join(folder, name));
    writeFileSync(join(folder, name), content);
  }
  return files;
}

/** See reproducible-builds.org/specs/source-date-epoch. */
function sourceDateMs(): number | undefined {
  const { SOURCE_DATE_EPOCH: seconds } = process.env;
  return seconds ? Number(seconds) * 1000 : undefined;
}

/** Outside a Git repository, package.json has the commit's time, which `git archive` gives it. */
function commitDateMs(): number {
  const git = Bun.spawnSync(["git", "log", "-1", "--format=%ct"], { cwd: root, stderr: "ignore" });
  const seconds = git.success ? Number(git.stdout.toString()) : 0;
  return seconds > 0 ? seconds * 1000 : statSync(join(root, "package.json")).mtimeMs;
}

/** Compiles to a fixed file name, which becomes part of the bytes, and then renames the file. */
async function compile(file: string, embedded: string[], platform?: Platform): Promise<void> {
  const compiled = join(folder, "roadbook");
  await Bun.build({
    entrypoints: [join(root, "src/main.ts"), ...embedded],
    target: "bun",
    // Elysia reads the source of handlers to see what they use and return, so nothing is rewritten.
    // Comments are left out, because they name the temporary folder.
    minify: { whitespace: true },
    bytecode: true,
    // Puts each command's code into a chunk that is loaded only when the command runs. Bun can
    // split only ES modules.
    format: "esm",
    splitting: true,
    // The same folders as in the package. Those of the sources differ from build to build.
    naming: {
      entry: "lib/[name].[ext]",
      chunk: "lib/[name]-[hash].[ext]",
      asset: "assets/[name].[ext]",
    },
    // pino's modules look for workers at these paths. The real paths differ between machines.
    define: { __dirname: '"/"', __filename: '"/"' },
    loader: { ".snapshot": "file", ".gz": "file", ".asset": "file", ".txt": "file" },
    external,
    compile: {
      outfile: compiled,
      // Files in the working directory, such as .env, must not change the settings.
      autoloadDotenv: false,
      autoloadBunfig: false,
      ...(platform && { target: `bun-${platform}`, executablePath: await findRuntime(platform) }),
    },
  });
  renameSync(platform && isWindows(platform) ? `${compiled}.exe` : compiled, file);
  process.stdout.write(`built ${file}\n`);
}
