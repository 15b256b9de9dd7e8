/**
 * `bun run build`: the executable, which is Bun, the code, a snapshot and the pages in one file, the
 * same bytes each time. scripts/release has the rest of a release.
 */
import { mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Command, Option } from "@commander-js/extra-typings";
import { DEMO_SNAPSHOT, makeAssets, OWN_SNAPSHOT } from "../src/assets.ts";
import { demoDataset } from "../src/community/demo.ts";
import { importDataset } from "../src/library.ts";
import { packFiles } from "./release/pack.ts";
import { findRuntime, isWindows, type Platform, platforms } from "./release/platforms.ts";

const root = join(import.meta.dir, "..");
const values = new Command("bun run build")
  .description("builds the executable, which needs no other file")
  .addOption(
    new Option("--outfile <FILE>", "where to write it").default(
      join(root, "dist/roadbook"),
      "dist/roadbook",
    ),
  )
  .addOption(new Option("--target <PLATFORM>", "for another machine than this").choices(platforms))
  .option("--dataset <FILE>", "bundle this dataset instead of the demo")
  .option("--all", "build for every platform, compress each, and write SHA256SUMS")
  .parse()
  .opts();
const outfile = resolve(values.outfile);
mkdirSync(dirname(outfile), { recursive: true });
const folder = mkdtempSync(join(dirname(outfile), ".build-"));

try {
  const files = await writeEmbedded();
  if (values.all) {
    const built: string[] = [];
    for (const platform of platforms) {
      const file = `${outfile}-${platform}${isWindows(platform) ? ".exe" : ""}`;
      await compile(file, files, platform);
      built.push(file);
    }
    await packFiles(built);
  } else {
    await compile(outfile, files, values.target);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** The files inside the executable, beside the code. */
async function writeEmbedded(): Promise<string[]> {
  const { dataset } = values;
  const snapshot = join(folder, dataset ? OWN_SNAPSHOT : DEMO_SNAPSHOT);
  const builtAtMs = sourceDateMs() ?? (dataset ? undefined : commitDateMs());
  await importDataset(dataset ?? demoDataset(), snapshot, { builtAtMs });
  const files = [snapshot];
  for (const [name, content] of Object.entries(await makeAssets())) {
    files.push(join(folder, name));
    writeFileSync(join(folder, name), content);
  }
  return files;
}

/** The time that a build is to carry instead of now: reproducible-builds.org/specs/source-date-epoch. */
function sourceDateMs(): number | undefined {
  const { SOURCE_DATE_EPOCH: seconds } = process.env;
  return seconds ? Number(seconds) * 1000 : undefined;
}

/** When the demo was last changed, as far as is known: `git archive` gives files the commit's time. */
function commitDateMs(): number {
  const git = Bun.spawnSync(["git", "log", "-1", "--format=%ct"], { cwd: root, stderr: "ignore" });
  const seconds = git.success ? Number(git.stdout.toString()) : 0;
  return seconds > 0 ? seconds * 1000 : statSync(join(root, "package.json")).mtimeMs;
}

/** Compiles under one name, which is in the bytes, and moves the whole executable to its place. */
async function compile(file: string, embedded: string[], platform?: Platform): Promise<void> {
  const compiled = join(folder, "roadbook");
  await Bun.build({
    entrypoints: [join(root, "src/main.ts"), ...embedded],
    target: "bun",
    // Not identifiers: Elysia reads the source of handlers to see what they use.
    minify: { whitespace: true, syntax: true },
    bytecode: true,
    // A command's code in a file of its own, loaded when it runs; Bun divides modules only.
    format: "esm",
    splitting: true,
    // Names without folders: the one above has another name in each build.
    naming: { entry: "[name].[ext]", asset: "[name].[ext]" },
    // The folders of pino's modules, which it looks for workers in, would be those of this machine.
    define: { __dirname: '"/"', __filename: '"/"' },
    loader: { ".snapshot": "file", ".gz": "file", ".asset": "file" },
    // Under Bun the seam is bun:sqlite; better-sqlite3 must not come along.
    external: ["better-sqlite3"],
    compile: {
      outfile: compiled,
      // A program takes no settings from files that happen to lie where it is started.
      autoloadDotenv: false,
      autoloadBunfig: false,
      // A query of any length is answered, not cut off at Bun's 16 KB of request head.
      execArgv: ["--max-http-header-size=262144"],
      ...(platform && { target: `bun-${platform}`, executablePath: await findRuntime(platform) }),
    },
  });
  renameSync(platform && isWindows(platform) ? `${compiled}.exe` : compiled, file);
  process.stdout.write(`built ${file}\n`);
}
