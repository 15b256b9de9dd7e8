/** The house rules that a machine can hold: which layer may import which, and what a file says of itself. */
import { describe, expect, test } from "bun:test";
import { dirname, join, relative, resolve } from "node:path";
import { root } from "./support.ts";

const layers = ["domain", "search", "sqlite", "files", "snapshot", "limit", "web", "http", "main"];
const source = join(root, "src");
const files = [...new Bun.Glob("**/*.ts").scanSync(source)].sort();

/** The files right under src, and the commands, are the outermost layer. */
function layerOf(file: string): string {
  const [folder = ""] = file.split("/");
  return layers.includes(folder) ? folder : "main";
}

function importsOf(text: string): string[] {
  return [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(([, path = ""]) => path);
}

/** What is wrong with an import, if anything. */
function faultOf(file: string, path: string): string | undefined {
  if (path === "#sqlite")
    return ["files", "snapshot"].includes(layerOf(file))
      ? undefined
      : "only files and snapshots use SQLite";
  if (!path.startsWith(".")) return undefined;
  const target = relative(source, resolve(source, dirname(file), path));
  if (target === "../package.json" || /^\.\.\/data\/\w+\.json$/.test(target)) return undefined;
  if (target.startsWith("..")) return "leaves src";
  const [from, to] = [layers.indexOf(layerOf(file)), layers.indexOf(layerOf(target))];
  return to > from ? `${layerOf(file)} may not import ${layerOf(target)}` : undefined;
}

test("a file imports only from its own layer and those below", async () => {
  const faults: string[] = [];
  for (const file of files) {
    for (const path of importsOf(await Bun.file(join(source, file)).text())) {
      const fault = faultOf(file, path);
      if (fault) faults.push(`${file} imports ${path}: ${fault}`);
    }
  }
  expect(faults).toEqual([]);
  expect(files.length).toBeGreaterThan(20);
});

test.each([
  ["domain/user.ts", "../search/fold.ts", "domain may not import search"],
  ["search/fold.ts", "../snapshot/name-index/find.ts", "search may not import snapshot"],
  ["snapshot/name-index/find.ts", "../../http/app.ts", "snapshot may not import http"],
  ["http/app.ts", "../main.ts", "http may not import main"],
  ["http/app.ts", "#sqlite", "only files and snapshots use SQLite"],
  ["http/app.ts", "../../test/support.ts", "leaves src"],
])("%s importing %s is caught", (file, path, fault) => {
  expect(faultOf(file, path)).toBe(fault);
});

/** What Node.js 18 lacks: an import of it by name fails before node-version.ts can say so. */
const newerNames =
  /import \{[^}]*\b(?:hash|crc32|\w*[zZ]std\w*)\b[^}]*\} from "node:(?:crypto|zlib)"/;

test("no file imports by name what an older Node.js lacks", async () => {
  expect('import { crc32, deflateSync } from "node:zlib";').toMatch(newerNames);
  const texts = await Promise.all(files.map((file) => Bun.file(join(source, file)).text()));
  expect(files.filter((_, at) => newerNames.test(texts[at] ?? ""))).toEqual([]);
});

test("imports form no circle", async () => {
  const imports = new Map<string, string[]>();
  for (const file of files) {
    const paths = importsOf(await Bun.file(join(source, file)).text());
    const own = paths.filter((path) => path.startsWith("."));
    imports.set(
      file,
      own.map((path) => relative(source, resolve(source, dirname(file), path))),
    );
  }
  const done = new Set<string>();
  const findCircle = (file: string, path: string[]): string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const next of imports.get(file) ?? []) {
      const circle = findCircle(next, [...path, file]);
      if (circle) return circle;
    }
    done.add(file);
    return undefined;
  };
  const [first] = files.flatMap((file) => findCircle(file, [])?.join(" imports ") ?? []);
  expect(first).toBeUndefined();
});

describe("routes of different features", () => {
  test("do not import each other", async () => {
    const features = ["users", "search", "health", "docs", "drawings", "pages", "sitemap"];
    for (const feature of features) {
      const imports = importsOf(await Bun.file(join(source, `http/${feature}.ts`)).text());
      for (const other of features) expect(imports).not.toContain(`./${other}.ts`);
    }
  });
});

test("every source file opens with what it owns", async () => {
  const silent: string[] = [];
  for (const file of files) {
    if (!(await Bun.file(join(source, file)).text()).startsWith("/**")) silent.push(file);
  }
  expect(silent).toEqual([]);
});

test("only commands/command-line.ts reads the environment", async () => {
  const readers: string[] = [];
  for (const file of files) {
    if (/process\.env|Bun\.env/.test(await Bun.file(join(source, file)).text())) readers.push(file);
  }
  expect(readers).toEqual(["commands/command-line.ts"]);
});
