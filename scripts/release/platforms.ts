/**
 * The platforms of a release, and the Bun that each executable is made of: npm packages, whose
 * versions and checksums bun.lock beside this file holds. They are cached in node_modules/.cache.
 */
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { packageManager } from "../../package.json" with { type: "json" };

/** Named as in the files of a release. */
export const platforms = [
  "linux-x64",
  "linux-x64-musl",
  "linux-arm64",
  "linux-arm64-musl",
  "darwin-x64",
  "darwin-arm64",
  "windows-x64",
] as const;

export type Platform = (typeof platforms)[number];

export const isWindows = (platform: Platform) => platform.startsWith("windows");

const cache = join(import.meta.dir, "../../node_modules/.cache/roadbook-runtimes");

/** The path of a platform's Bun; the first time, all of them are installed (400 MB to load). */
export async function findRuntime(platform: Platform): Promise<string> {
  if (`bun@${Bun.version}` !== packageManager) {
    throw new Error(`this is bun@${Bun.version}: a release is built with ${packageManager}`);
  }
  const runtime = `bun-${platform.replace("arm64", "aarch64")}`;
  const folder = join(cache, "node_modules/@oven", runtime);
  const path = join(folder, isWindows(platform) ? "bin/bun.exe" : "bin/bun");
  if (!(await isInstalled(folder, path))) {
    mkdirSync(cache, { recursive: true });
    for (const file of ["package.json", "bun.lock"]) {
      copyFileSync(join(import.meta.dir, file), join(cache, file));
    }
    const everything = ["--os", "*", "--cpu", "*", "--libc", "*"];
    const install = [process.execPath, "install", "--frozen-lockfile", "--silent", ...everything];
    Bun.spawnSync(install, { cwd: cache, stdio: ["ignore", "inherit", "inherit"] });
  }
  if (!(await isInstalled(folder, path))) throw new Error(`${runtime} cannot be installed`);
  return path;
}

async function isInstalled(folder: string, path: string): Promise<boolean> {
  if (!existsSync(path)) return false;
  const { version } = await Bun.file(join(folder, "package.json")).json();
  return `bun@${version}` === packageManager;
}
