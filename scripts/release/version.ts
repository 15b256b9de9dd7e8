/**
 * The version of a release, and the places that repeat it or the project's address, which is
 * `repository` in package.json:
 *
 *     bun scripts/release/version.ts set 0.2.0     writes it to all of them
 *     bun scripts/release/version.ts check v0.2.0  fails unless this tag can be released
 *     bun scripts/release/version.ts notes 0.2.0   prints its section of the changelog
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { name, repository } from "../../package.json" with { type: "json" };

const root = join(import.meta.dir, "../..");
export const webAddress = repository.url.replace(/^git\+|\.git$/g, "");
export const [owner = "", project = ""] = webAddress.split("/").slice(-2);
const image = `ghcr.io/${owner}/${project}`;
const PLAIN_VERSION = /^\d+\.\d+\.\d+$/;

/** The functions below take the texts of files, and return them changed. */
export interface Documents {
  packageJson: string;
  changelog: string;
  readme: string;
  kubernetes: string;
}

const paths: Documents = {
  packageJson: "package.json",
  changelog: "CHANGELOG.md",
  readme: "README.md",
  kubernetes: "scripts/deploy/kubernetes.yaml",
};

if (import.meta.main) {
  const [command, argument = ""] = process.argv.slice(2);
  try {
    if (command === "set") write(setVersion(readDocuments(), argument, new Date()));
    else if (command === "check") check(argument);
    else if (command === "notes") process.stdout.write(notesOf(readDocuments(), argument));
    else throw new Error("usage: version.ts set VERSION | check TAG | notes VERSION");
  } catch (error) {
    process.stderr.write(`${Error.isError(error) ? error.message : error}\n`);
    process.exitCode = 1;
  }
}

export function readDocuments(): Documents {
  const entries = Object.entries(paths).map(([key, path]) => [key, read(path)]);
  return Object.fromEntries(entries);
}

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

function write(documents: Documents): void {
  for (const [key, path] of Object.entries(paths)) {
    writeFileSync(join(root, path), documents[key as keyof Documents]);
  }
}

/**
 * A version such as 0.3.0-dev begins the work on the next release, and leaves the names of the last
 * one in the documents.
 */
export function setVersion(documents: Documents, version: string, date: Date): Documents {
  const isRelease = PLAIN_VERSION.test(version);
  if (!isRelease && !PLAIN_VERSION.test(version.replace(/-dev$/, ""))) {
    throw new Error(`the version must be like 0.2.0 or 0.2.0-dev, got "${version}"`);
  }
  const packageJson = documents.packageJson.replace(/"version": ".*"/, `"version": "${version}"`);
  const changed = { ...documents, packageJson };
  changed.changelog = isRelease
    ? dateSection(documents.changelog, version, date)
    : beginSection(documents.changelog, version.replace(/-dev$/, ""));
  return updateNames(changed);
}

function dateSection(changelog: string, version: string, date: Date): string {
  const heading = `## ${version} (unreleased)`;
  if (isDated(changelog, version)) return changelog;
  if (!changelog.includes(heading)) throw new Error(`CHANGELOG.md has no section "${heading}"`);
  return changelog.replace(heading, `## ${version} (${date.toISOString().slice(0, 10)})`);
}

/** Whether the changelog says when this version was released. */
function isDated(changelog: string, version: string): boolean {
  return new RegExp(`^## ${RegExp.escape(version)} \\(\\d{4}-`, "m").test(changelog);
}

function beginSection(changelog: string, version: string): string {
  if (changelog.includes(`## ${version} `)) return changelog;
  return changelog.replace(/^## /m, `## ${version} (unreleased)\n\n$&`);
}

/** Writes the names of the last release, or of the first if there was none. */
export function updateNames(documents: Documents): Documents {
  const released = /^## (\S+) \(\d{4}-/m.exec(documents.changelog)?.[1];
  const version = released ?? /^## (\S+) /m.exec(documents.changelog)?.[1] ?? "";
  const section = formatGetIt(version, released !== undefined);
  return {
    ...documents,
    readme: documents.readme.replace(/^## Get it\n.*?(?=^## )/ms, () => section),
    kubernetes: documents.kubernetes.replace(/ghcr\.io\/\S+/g, `${image}:${version}`),
  };
}

/** The README's section. Every block can be pasted on its own. */
function formatGetIt(version: string, isReleased: boolean): string {
  const downloads = `${webAddress}/releases/latest/download`;
  const get = (platform: string) => `curl -fL ${downloads}/roadbook-${platform}.tar.gz | tar -xz`;
  const zip = "roadbook-windows-x64.zip";
  const deb = `roadbook_${version}_amd64.deb`;
  const pinned = `${webAddress}/releases/download/v${version}`;
  const blocks = {
    "Linux with glibc 2.17 or later; on arm64, `linux-arm64`": get("linux-x64"),
    "Alpine; on arm64, `linux-arm64-musl`": `apk add curl libstdc++ && ${get("linux-x64-musl")}`,
    "macOS 13 or later; on Intel, `darwin-x64`": `${get("darwin-arm64")} && codesign --force --sign - roadbook`,
    "Windows 10 (1809) or later": `cmd /c "curl -fLO ${downloads}/${zip} && tar -xf ${zip}"`,
    "Debian 12, Ubuntu 22.04 or later; on arm64, `arm64`": `curl -fLO ${pinned}/${deb} && sudo apt-get install ./${deb}`,
    "Node.js 22.15 or later": `npx ${name}`,
    "A container": `docker run --rm -p 3000:3000 ${image}`,
  };
  const intro = isReleased
    ? `[Every file](${webAddress}/releases) has a checksum and an attestation of its origin.`
    : "There is no release yet, so [build it](#run-test-build). The lines below work from the first release on.";
  const texts = Object.entries(blocks).map(
    ([system, lines]) => `${system}:\n\n\`\`\`shell\n${lines}\n\`\`\`\n`,
  );
  return `## Get it\n\n${intro}\n\n${texts.join("\n")}\n`;
}

/** Throws unless this tag, on this commit, can become a release that is the latest everywhere. */
function check(tag: string): void {
  const documents = readDocuments();
  const problem = findProblem(documents, tag, listTags());
  if (problem !== undefined) throw new Error(`${tag} cannot be released: ${problem}`);
  process.stdout.write(`${tag} can be released\n`);
}

export function findProblem(documents: Documents, tag: string, tags: string[]): string | undefined {
  const { version } = JSON.parse(documents.packageJson);
  if (!PLAIN_VERSION.test(version)) return `version ${version} is not like 0.2.0`;
  if (tag !== `v${version}`) return `package.json has version ${version}`;
  if (!isDated(documents.changelog, version)) {
    return `CHANGELOG.md has no section "## ${version} (date)"`;
  }
  const expected = updateNames(documents);
  if (!Bun.deepEquals(expected, documents)) {
    return `README.md or kubernetes.yaml has other names; run version.ts set ${version}`;
  }
  const newer = tags.find((other) => Bun.semver.order(other.slice(1), version) > 0);
  return newer && `${newer} is newer, and everything would call ${tag} the latest`;
}

/** Returns the tags that are releases. */
function listTags(): string[] {
  const { stdout } = Bun.spawnSync(["git", "tag", "--list", "v*"], { cwd: root });
  const tags = stdout.toString().split("\n");
  return tags.filter((tag) => PLAIN_VERSION.test(tag.slice(1)));
}

/** Returns the section of a version without its heading. Its links lead to that version's files. */
export function notesOf({ changelog }: Documents, version: string): string {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text.startsWith(`${version} `));
  if (section === undefined) throw new Error(`CHANGELOG.md has no section for ${version}`);
  const text = section.replace(/^.*\n+/, "");
  return text.replace(/\]\((?!https?:)([^)]+)\)/g, `](${webAddress}/blob/v${version}/$1)`);
}
