/**
 * The platforms of a release, and the Bun that each executable is made of: npm packages, whose
 * versions and checksums bun.lock beside this file holds. They are cached in node_modules/.cache.
 */
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { packageManager } from "../../package.json" with { type: "json" };

export interface Platform {
  /** What the files of a release are named by. */
  name: string;
  os: "linux" | "darwin" | "windows";
  target: Bun.Build.CompileTarget;
  /** The npm package, under @oven. */
  runtime: string;
}

export const platforms: Platform[] = [
  { name: "linux-x64", os: "linux", target: "bun-linux-x64", runtime: "bun-linux-x64" },
  {
    name: "linux-x64-baseline",
    os: "linux",
    target: "bun-linux-x64-baseline",
    runtime: "bun-linux-x64-baseline",
  },
  {
    name: "linux-x64-musl",
    os: "linux",
    target: "bun-linux-x64-musl",
    runtime: "bun-linux-x64-musl",
  },
  { name: "linux-arm64", os: "linux", target: "bun-linux-arm64", runtime: "bun-linux-aarch64" },
  {
    name: "linux-arm64-musl",
    os: "linux",
    target: "bun-linux-arm64-musl",
    runtime: "bun-linux-aarch64-musl",
  },
  { name: "darwin-x64", os: "darwin", target: "bun-darwin-x64", runtime: "bun-darwin-x64" },
  { name: "darwin-arm64", os: "darwin", target: "bun-darwin-arm64", runtime: "bun-darwin-aarch64" },
  { name: "windows-x64", os: "windows", target: "bun-windows-x64", runtime: "bun-windows-x64" },
];

const cache = join(import.meta.dir, "../../node_modules/.cache/roadbook-runtimes");

/** The path of a platform's Bun; the first time, all of them are installed (400 MB to load). */
export async function findRuntime({ os, runtime }: Platform): Promise<string> {
  if (`bun@${Bun.version}` !== packageManager) {
    throw new Error(`this is bun@${Bun.version}: a release is built with ${packageManager}`);
  }
  const folder = join(cache, "node_modules/@oven", runtime);
  const path = join(folder, os === "windows" ? "bin/bun.exe" : "bin/bun");
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
