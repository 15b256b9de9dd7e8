/**
 * The platforms of a release, and the build of Bun for each: an npm package that bun.lock in this
 * folder pins.
 */
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { packageManager } from "../../package.json" with { type: "json" };

/** These names are part of the file names of a release. */
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

/** The name of the executable in a release. */
export const fileNameOf = (platform: Platform) =>
  `roadbook-${platform}${isWindows(platform) ? ".exe" : ""}`;

const cache = join(import.meta.dir, "../../node_modules/.cache/roadbook-runtimes");

/** Returns the path of Bun for a platform. The first call downloads 400 MB, for all platforms. */
export async function findRuntime(platform: Platform): Promise<string> {
  if (`bun@${Bun.version}` !== packageManager) {
    throw new Error(`a release must be built with ${packageManager}, got bun@${Bun.version}`);
  }
  const runtime = `bun-${platform.replace("arm64", "aarch64")}`;
  const folder = join(cache, "node_modules/@oven", runtime);
  const path = join(folder, isWindows(platform) ? "bin/bun.exe" : "bin/bun");
  if (!(await isInstalled(folder, path))) {
    mkdirSync(cache, { recursive: true });
    for (const file of ["package.json", "bun.lock"]) {
      copyFileSync(join(import.meta.dir, file), join(cache, file));
    }
    const allPlatforms = ["--os", "*", "--cpu", "*", "--libc", "*"];
    const install = [process.execPath, "install", "--frozen-lockfile", "--silent", ...allPlatforms];
    Bun.spawnSync(install, { cwd: cache, stdio: ["ignore", "inherit", "inherit"] });
  }
  if (!(await isInstalled(folder, path))) throw new Error(`cannot install ${runtime}`);
  return path;
}

async function isInstalled(folder: string, path: string): Promise<boolean> {
  if (!existsSync(path)) return false;
  const { version } = await Bun.file(join(folder, "package.json")).json();
  return `bun@${version}` === packageManager;
}
