/** The version, the names that repeat it, the notes, and what the release workflow publishes. */
import { expect, test } from "bun:test";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  findProblem,
  notesOf,
  readDocuments,
  setVersion,
  updateNames,
  webAddress,
} from "../../scripts/release/version.ts";
import { version as current } from "../../src/domain/version.ts";
import { codeBlocks, root, run, temporaryFolder, tryProgram } from "../support.ts";

const documents = readDocuments();
const next = current.replace("-dev", "");
const [getIt = ""] = /^## Get it\n\n.*?(?=^## )/ms.exec(documents.readme) ?? [];
const read = (path: string) => readFileSync(join(root, path), "utf8");

test("the README and the manifests have the names and the address of the release", async () => {
  // If this fails, run `bun scripts/release/version.ts set` with the version in package.json.
  expect(updateNames(documents)).toEqual(documents);
  const { stdout } = await run(["git", "grep", "-hoE", "(github.com|ghcr.io)/roadbook/[a-z-]+"], {
    cwd: root,
  });
  const [, address = ""] = webAddress.split("github.com/");
  for (const found of stdout.trim().split("\n")) expect(found).toEndWith(`/${address}`);
});

test("until there is a release, the README says so where one would get it", () => {
  const isReleased = /^## \S+ \(\d{4}-/m.test(documents.changelog);
  expect(getIt.includes("[build it](#run-test-build)")).toBe(!isReleased);
  const released = setVersion(documents, next, new Date(0));
  expect(released.readme).not.toContain("There is no release yet");
});

test("the blocks that get Roadbook name every executable, and are valid shell", async () => {
  for (const name of ["linux-arm64", "linux-arm64-musl", "darwin-x64"])
    expect(getIt).toContain(`\`${name}\``);
  const blocks = codeBlocks(getIt, "shell");
  expect(blocks).toHaveLength(7);
  for (const block of blocks) {
    // Each stands alone, so none uses a variable of another.
    expect(block).not.toContain("$");
    expect(await run(["sh", "-n", "-c", block])).toMatchObject({ code: 0, stderr: "" });
  }
});

test("the commands of RELEASING.md make a version that can be released, and begin the next one", async () => {
  const folder = temporaryFolder();
  const script = "scripts/release/version.ts";
  for (const path of [
    script,
    "package.json",
    "CHANGELOG.md",
    "README.md",
    "scripts/deploy/kubernetes.yaml",
  ]) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    cpSync(join(root, path), join(folder, path));
  }
  const version = (words: string) =>
    run(["sh", "-c", words.replace(/^bun/, process.execPath)], { cwd: folder });
  const check = (tag: string) => version(`bun ${script} check ${tag}`);
  const [set = "", begin = ""] = codeBlocks(
    read(".github/RELEASING.md").replace(/^ {3}/gm, ""),
    "sh",
  );
  const inFolder = (path: string) => readFileSync(join(folder, path), "utf8");

  const tooEarly = `v${next} cannot be released: version ${next}-dev is not like 0.2.0\n`;
  if (current !== next)
    expect(await check(`v${next}`)).toMatchObject({ code: 1, stderr: tooEarly });
  expect(await version(set.replace(/[\d.]+$/, next))).toEqual({ code: 0, stdout: "", stderr: "" });
  expect(await check(`v${next}`)).toMatchObject({ code: 0, stderr: "" });
  expect((await check("v9.9.9")).stderr).toContain(`package.json has version ${next}`);
  expect(inFolder("README.md")).toContain(`roadbook_${next}_amd64.deb`);
  const before = inFolder("README.md");
  expect(await version(begin.replace("0.3.0", "99.0.0"))).toMatchObject({ code: 0, stderr: "" });
  expect(inFolder("CHANGELOG.md")).toMatch(/^## 99\.0\.0 \(unreleased\)\n\n## [\d.]+ \(\d{4}-/m);
  // The names stay those of the last release.
  expect(inFolder("README.md")).toBe(before);
  expect((await version(`bun ${script} set v1`)).stderr).toContain("must be like 0.2.0");
});

test("a tag cannot be released if a newer one exists, or if a document has other names", () => {
  const released = setVersion(documents, next, new Date(0));
  expect(findProblem(released, `v${next}`, ["v0.1.0", `v${next}`])).toBeUndefined();
  expect(findProblem(released, `v${next}`, ["v10.0.0"])).toContain("v10.0.0 is newer");
  const readme = released.readme.replaceAll(next, "0.1.9");
  expect(findProblem({ ...released, readme }, `v${next}`, [])).toContain("has other names");
});

test("the notes are one section of the changelog, with links that work on GitHub", () => {
  const changelog =
    "# C\n\n## 2.0.0 (2026-01-01)\n\nNew [guide](a/b.md#c) and [x](https://x.example).\n\n## 1.0.0\n\nold\n";
  expect(notesOf({ ...documents, changelog }, "2.0.0")).toBe(
    `New [guide](${webAddress}/blob/v2.0.0/a/b.md#c) and [x](https://x.example).\n\n`,
  );
  expect(() => notesOf(documents, "9.9.9")).toThrow("no section for 9.9.9");
});

interface Job {
  needs?: string | string[];
  permissions?: Record<string, string>;
  steps: { run?: string; with?: Record<string, string> }[];
}

test("the workflow makes the draft public last, and gives npm a path that is no repository's name", async () => {
  const text = read(".github/workflows/release.yml");
  const { jobs } = Bun.YAML.parse(text) as { jobs: Record<string, Job> };
  const before = (name: string): string[] => {
    const needs = [jobs[name]?.needs ?? []].flat();
    return [...needs, ...needs.flatMap(before)];
  };
  const others = Object.keys(jobs).filter((name) => name !== "public");
  expect(new Set(before("public"))).toEqual(new Set(others));
  expect(before("npm")).toContain("check");
  // Jobs that may write run no code of the repository; only the image is built from it.
  for (const [name, { permissions, steps }] of Object.entries(jobs)) {
    if (!Object.values(permissions ?? {}).includes("write") || name === "image") continue;
    for (const step of steps) expect(step.run ?? "").not.toMatch(/scripts\/|bun |\.ci/);
  }

  const tarball = `${temporaryFolder()}/dist/x-1.0.0.tgz`;
  mkdirSync(dirname(tarball));
  const archive = new Bun.Archive({ "package/package.json": '{"name":"x","version":"1.0.0"}' });
  await Bun.write(tarball, Bun.gzipSync(await archive.bytes()));
  const publish = /npm@\S+ (publish .*)$/m.exec(text)?.[1]?.replace("--provenance ", "");
  const dry = `npm ${publish} --dry-run --offline`;
  const outcome = await run(["sh", "-c", dry], { cwd: dirname(dirname(tarball)) });
  expect(outcome).toMatchObject({ code: 0, stdout: "+ x@1.0.0\n" });
});

test.if(tryProgram("python3"))("the README's line for Linux unpacks an executable", async () => {
  const folder = temporaryFolder();
  for (const name of ["roadbook-linux-x64", "roadbook-windows-x64.exe"]) {
    writeFileSync(join(folder, name), "#!/bin/sh\necho unpacked\n");
  }
  const env = { PATH: process.env.PATH ?? "", SOURCE_DATE_EPOCH: "1700000000" };
  const packed = await run([join(root, "scripts/release/pack"), folder], { env });
  expect(packed).toEqual({ code: 0, stdout: "", stderr: "" });

  const cwd = temporaryFolder();
  const [linux = ""] = codeBlocks(getIt, "shell");
  const local = linux.replace(/https:.*\//, `file://${folder}/`);
  expect(local).toContain("/roadbook-linux-x64.tar.gz | tar -xz");
  const { stdout } = await run(["sh", "-c", `${local} && ./roadbook`], { cwd });
  expect(stdout).toBe("unpacked\n");

  const zip = join(folder, "roadbook-windows-x64.zip");
  const listed = await run(["python3", "-m", "zipfile", "-l", zip]);
  expect(listed.stdout).toMatch(/^roadbook\.exe +2023-11-14 22:13:20 +24$/m);
});
