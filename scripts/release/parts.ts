/**
 * The parts of an executable that others wrote: npm packages, Bun, and the libraries that Bun
 * links. Formats them as the text of `roadbook licences`, and as a CycloneDX list for a release.
 */
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { Enums, Models, Serialize, Spec } from "@cyclonedx/cyclonedx-library";
import { Glob } from "bun";
import spdx from "spdx-license-list/full.js";
import { name, packageManager, version } from "../../package.json" with { type: "json" };
import { docsScript } from "../../src/web/assets.ts";

export interface Part {
  name: string;
  /** Undefined for a library in Bun whose version Bun does not say. */
  version: string | undefined;
  /** Whether it is an npm package, and not a library in Bun. */
  isPackage: boolean;
  /** An SPDX expression, or a description. */
  licence: string;
  /** The licence files of the part; empty if it has none. */
  text: string;
  url: string;
}

const root = join(import.meta.dir, "../..");
const LICENCE_FILE = /^(?:licen[cs]e|copying|notice)(?:[-._].*)?$/i;
const RULE = "=".repeat(80);

/**
 * Packages that the executable imports but never loads: only Node.js needs better-sqlite3, Elysia uses
 * file-type to check uploads, and the others make the script of the docs page from source.
 */
export const external = ["@scalar/fastify-api-reference", "better-sqlite3", "fastify", "file-type"];

export async function listExecutableParts(): Promise<Part[]> {
  const { metafile } = await Bun.build({
    entrypoints: [join(root, "src/main.ts")],
    target: "bun",
    external,
    metafile: true,
  });
  const modules = Object.keys(metafile?.inputs ?? {}).map((path) => join(root, path));
  return [...(await listParts(modules)), ...listRuntimeParts()];
}

/** Returns the packages that modules with these absolute paths are from, and those of the assets. */
export async function listParts(modules: readonly string[]): Promise<Part[]> {
  const folders = new Set(modules.flatMap(folderOf));
  const parts = [...[...folders].map(readPackage), ...(await listDocsParts())];
  // The same version may be installed in several folders.
  const packages = new Map(parts.map((part) => [`${part.name} ${part.version}`, part]));
  return [...packages].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, part]) => part);
}

function folderOf(file: string): string[] {
  const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? [];
  return folder === undefined ? [] : [folder];
}

/**
 * Returns the packages in the script of the docs page. Its source map names the modules: Scalar's
 * own by their folder, the others by package and version. The drawings of Phosphor are in
 * @scalar/icons. A licence is read from the installed version of a package.
 */
async function listDocsParts(): Promise<Part[]> {
  const folder = installDocsPackages();
  const file = join(folder, "node_modules/@scalar/api-reference/dist/browser/standalone.js");
  if (!gunzipSync(await docsScript()).equals(readFileSync(file))) {
    throw new Error(
      "@scalar/api-reference (scripts/release/scalar) and @scalar/fastify-api-reference must have the same version",
    );
  }
  const { sources }: { sources: string[] } = JSON.parse(readFileSync(`${file}.map`, "utf8"));
  const versions = new Map<string, string | undefined>([["@phosphor-icons/core", undefined]]);
  for (const source of sources) {
    const [, name, version] = /\.pnpm\/(@?[^@/]+)@([^_/]+)/.exec(source) ?? [];
    const [, folder = "api-reference"] = /^(?:\.\.\/){3}([^/.]+)\//.exec(source) ?? [];
    versions.set(name?.replace("+", "/") ?? `@scalar/${folder}`, version);
  }
  return [...versions].map(([name, version]) => {
    const part = readPackage(findPackage(name, folder));
    return { ...part, version: version ?? part.version };
  });
}

/**
 * Installs the packages of the docs page, which take 280 MB, so that only those who build download
 * them. Returns their folder, which is named after the lock file. Builds may run at the same time.
 */
function installDocsPackages(): string {
  const pinned = join(import.meta.dir, "scalar");
  const cache = join(root, "node_modules/.cache");
  const hash = createHash("sha256")
    .update(readFileSync(join(pinned, "bun.lock")))
    .digest("hex");
  const installed = join(cache, `roadbook-docs-${hash.slice(0, 12)}`);
  if (existsSync(installed)) return installed;

  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, ".roadbook-docs-"));
  try {
    for (const file of ["package.json", "bun.lock"])
      copyFileSync(join(pinned, file), join(folder, file));
    const install = [process.execPath, "install", "--frozen-lockfile", "--silent"];
    const { success } = Bun.spawnSync(install, {
      cwd: folder,
      stdio: ["ignore", "inherit", "inherit"],
    });
    if (!success) throw new Error("cannot install the packages in scripts/release/scalar");
    renameSync(folder, installed);
  } catch (error) {
    // Another build was faster.
    if (!existsSync(installed)) throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return installed;
}

/** Finds a package of the docs page at the top of node_modules, or else below another package. */
function findPackage(name: string, folder: string): string {
  const top = join(folder, "node_modules", name);
  if (existsSync(join(top, "package.json"))) return top;
  const [nested] = new Glob(`node_modules/**/node_modules/${name}/package.json`).scanSync(folder);
  if (nested === undefined) {
    throw new Error(
      `${name} is part of the docs page; add it to scripts/release/scalar/package.json for its licence`,
    );
  }
  return dirname(join(folder, nested));
}

function readPackage(folder: string): Part {
  const { name, version, license, homepage } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8"),
  );
  const files = readdirSync(folder).filter((file) => LICENCE_FILE.test(file));
  return {
    name,
    version,
    isPackage: true,
    licence: license?.type ?? license ?? "unknown",
    text: files.map((file) => readFileSync(join(folder, file), "utf8").trim()).join("\n\n"),
    url: homepage ?? `https://www.npmjs.com/package/${name}`,
  };
}

/** Returns Bun and the libraries that it links, from the documentation of this version of Bun. */
function listRuntimeParts(): Part[] {
  const folder = join(root, "node_modules/bun-types");
  const types = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  if (`bun@${types.version}` !== packageManager) {
    throw new Error(`bun-types must have the version of ${packageManager}, got ${types.version}`);
  }
  const text = readFileSync(join(folder, "docs/project/license.mdx"), "utf8");
  // The rows of its tables: "| [`name`](url) | licence |".
  const rows = text.matchAll(/^\| *([^|]*\[`?([^\]`]+)`?\]\(([^)]+)\)[^|]*?) *\| *([^|]+?) *\|$/gm);
  const listed = [...rows].map(([, , name = "", url = "", licence = ""]) => {
    return makeLibrary(name, licence.replace(/\[([^\]]+)\]\([^)]+\)/g, "$1"), url);
  });
  const notes = text.replace(/^---.*?---\s*/s, "# Bun\n\n");
  return [
    { ...makeLibrary("bun", "MIT", "https://bun.sh"), text: notes, isPackage: true },
    makeLibrary(
      "JavaScriptCore and WebKit",
      "LGPL 2.0 or later",
      "https://github.com/oven-sh/WebKit",
    ),
    makeLibrary("llhttp", "MIT", "https://github.com/nodejs/llhttp"),
    makeLibrary("Zig's standard library", "MIT", "https://github.com/oven-sh/zig"),
    ...listed,
  ];
}

/** The names in process.versions, where they differ. */
const namesInVersions: Record<string, string> = {
  "JavaScriptCore and WebKit": "webkit",
  "Zig's standard library": "zig",
  "c-ares": "ares",
  libicu: "icu",
  libuv: "uv",
  "lol-html": "lolhtml",
  "ls-hpack": "lshpack",
  picohttp: "picohttpparser",
  uSockets: "usockets",
  uWebsockets: "uwebsockets",
  "zlib-ng": "zlib",
};

/** A library in Bun, whose version is a number or the commit that Bun was built with. */
function makeLibrary(name: string, licence: string, url: string): Part {
  const versions: Record<string, string | undefined> = process.versions;
  const version = versions[namesInVersions[name] ?? name];
  return { name, version, isPackage: false, licence, text: "", url };
}

/** The standard licences of parts that have no file with the text of their licence. */
const standardTexts = {
  MIT: /\bMIT\b/,
  "Apache-2.0": /Apache/,
  ISC: /\bISC\b/,
  Zlib: /\bzlib\b/,
  "BSD-2-Clause": /BSD.2/,
  "BSD-3-Clause": /BSD.3|BSD License/,
  IJG: /\bIJG\b/,
  "LGPL-2.0-or-later": /LGPL 2\.0/,
  "LGPL-2.1-or-later": /LGPL v2\.1/,
  ICU: /\bICU\b/,
  "libpng-2.0": /PNG Reference/,
  "MPL-2.0": /\bMPL-2/,
};

/** Returns the text of `roadbook licences`. */
export function formatLicences(parts: readonly Part[]): string {
  const bare = parts.filter(({ text, name }) => text === "" || name === "bun");
  const standard = Object.entries(standardTexts).filter(([, pattern]) =>
    bare.some(({ licence }) => pattern.test(licence)),
  );
  const sections = [
    `${name} ${version}\n\n${readFileSync(join(root, "LICENSE"), "utf8").trim()}`,
    `It contains these parts, whose licences follow:\n\n${parts.map(describe).join("\n")}`,
    ...parts.flatMap((part) => (part.text === "" ? [] : [`${describe(part)}\n\n${part.text}`])),
    "The texts of the standard licences that are named above follow.",
    ...standard.map(([id]) => `${spdx[id]?.name}\n\n${spdx[id]?.licenseText.trim()}`),
  ];
  return `${sections.join(`\n\n${RULE}\n\n`)}\n`;
}

function describe({ name, version, licence, url }: Part): string {
  return `${name}${version === undefined ? "" : ` ${version}`} (${licence}) ${url}`;
}

/** Returns the CycloneDX list of the parts of a file. The same parts give the same bytes. */
export function formatBom(file: { name: string; sha256?: string }, parts: readonly Part[]): string {
  const bom = new Models.Bom();
  bom.metadata.component = new Models.Component(Enums.ComponentType.Application, name, {
    bomRef: name,
    version,
    description: file.name,
    hashes: new Models.HashDictionary(
      file.sha256 ? [[Enums.HashAlgorithm["SHA-256"], file.sha256]] : [],
    ),
  });
  for (const part of parts) {
    const { name, version, isPackage, licence } = part;
    const type = isPackage ? "npm" : "generic";
    const path = name.split("/").map(encodeURIComponent).join("/");
    const id = `pkg:${type}/${path}${version === undefined ? "" : `@${version}`}`;
    const license = spdx[licence] ? Models.SpdxLicense : Models.NamedLicense;
    bom.components.add(
      new Models.Component(Enums.ComponentType.Library, name, {
        bomRef: id,
        purl: id,
        ...(version !== undefined && { version }),
        licenses: new Models.LicenseRepository([new license(licence)]),
      }),
    );
  }
  const factory = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6);
  const text = new Serialize.JsonSerializer(factory).serialize(bom, { sortLists: true, space: 2 });
  return `${text}\n`;
}
