/** Enforces the layers and invariants described in ARCHITECTURE.md, and checks links. */
import { describe, expect, test } from "bun:test";
import { existsSync, linkSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { applyChanges } from "../src/snapshot/import/apply.ts";
import { importDataset } from "../src/snapshot/import/import.ts";
import { RESCUE } from "../src/web/document.ts";
import { community, makeSnapshot } from "./datasets.ts";
import { root, temporaryFolder } from "./support.ts";

const architecture = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
const layers = /`(domain ←[^`]+)`/.exec(architecture)?.[1]?.split(/\s*←\s*/) ?? [];
const source = join(root, "src");
const files = [...new Bun.Glob("**/*.ts").scanSync(source)].sort();
const texts = new Map(files.map((file) => [file, readFileSync(join(source, file), "utf8")]));
const allFiles = ["src", "test", "scripts"].flatMap((folder) =>
  [...new Bun.Glob(`${folder}/**/*`).scanSync(root)].filter(
    (file) => !file.includes("node_modules"),
  ),
);

/** Returns the folder, or the name of a file directly in src, unless nothing imports that file. */
function layerOf(file: string): string {
  const [name = ""] = file.replace(/\.ts$/, "").split("/");
  return /^(?:main|library|elysia)$/.test(name) ? "entries" : name;
}

function importsOf(text: string): string[] {
  return [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(([, path = ""]) => path);
}

const filesWith = (pattern: RegExp) => files.filter((file) => pattern.test(texts.get(file) ?? ""));

/** Returns the rule that an import breaks, if any. */
function brokenRule(file: string, path: string): string | undefined {
  const layer = layerOf(file);
  if (path === "#sqlite") {
    const isAllowed = ["files", "tables", "snapshot"].includes(layer);
    return isAllowed ? undefined : "only files, tables and snapshot use SQLite";
  }
  if (/^(node:|bun$|bun:)/.test(path)) {
    return ["domain", "search"].includes(layer) ? `${layer} does no I/O` : undefined;
  }
  if (!path.startsWith(".")) return undefined;
  const target = relative(source, resolve(source, dirname(file), path));
  if (target === "../package.json" || /^\.\.\/data\/(?:languages\/)?\w+\.json$/.test(target))
    return undefined;
  if (target.startsWith("..")) return "leaves src";
  const isReader = target.startsWith("snapshot/read/");
  if (isReader && /^snapshot\/(format|import)\//.test(file))
    return "a writer may not import a reader";
  const [from, to] = [layers.indexOf(layer), layers.indexOf(layerOf(target))];
  return to > from || to < 0 ? `${layer} may not import ${layerOf(target)}` : undefined;
}

describe("imports", () => {
  test("a file imports only from its own layer and the layers before it", () => {
    const broken = files.flatMap((file) =>
      importsOf(texts.get(file) ?? "").flatMap((path) => {
        const rule = brokenRule(file, path);
        return rule ? [`${file} imports ${path}: ${rule}`] : [];
      }),
    );
    expect(broken).toEqual([]);
    // The rule is not met for want of imports.
    expect(brokenRule("domain/model.ts", "../search/fold.ts")).toBe("domain may not import search");
    expect(brokenRule("snapshot/import/add-records.ts", "../read/open.ts")).toContain(
      "not import a reader",
    );
    expect(importsOf([...texts.values()].join("\n")).length).toBeGreaterThan(200);
  });

  test("the routes of one feature do not import the routes of another", () => {
    const features = ["users", "search", "health", "docs", "pages", "page-files"];
    for (const feature of features) {
      const imports = importsOf(texts.get(`http/${feature}.ts`) ?? "");
      expect(imports).not.toBeEmpty();
      for (const other of features) expect(imports).not.toContain(`./${other}.ts`);
    }
  });
});

describe("invariants", () => {
  test("neither import nor apply changes a byte of the file that they replace", async () => {
    const path = await makeSnapshot();
    const replacements = [
      () => applyChanges([{ type: "user", id: 42, public: false }], path),
      () => importDataset(community, path),
    ];
    for (const replace of replacements) {
      // A hard link to the old file, which remains when `path` is replaced.
      const old = join(temporaryFolder(), "old");
      linkSync(path, old);
      const before = readFileSync(old);
      await replace();
      expect(readFileSync(path).equals(before)).toBe(false);
      expect(readFileSync(old).equals(before)).toBe(true);
    }
  });

  test("only files with a reason prepare statements without drizzle", () => {
    // FTS5 and its tables, and bulk inserts. The files in src/tables read others' tables.
    const search = ["build", "candidates", "change", "fts5-segment", "long-lists"];
    expect(
      filesWith(/\.prepare[<(](?!\))/).filter((file) => !/^(sqlite|tables)/.test(file)),
    ).toEqual([...search.map((name) => `search/${name}.ts`), "snapshot/import/add-records.ts"]);
  });

  test("reading a snapshot and responding from it are synchronous", () => {
    const asynchronous = new Set(filesWith(/\b(?:async|await|Promise)\b/));
    const routes = ["users", "search", "health", "page-files"];
    for (const file of [
      ...routes.map((name) => `http/${name}.ts`),
      "snapshot/read/profiles.ts",
      "snapshot/read/results.ts",
      "search/find.ts",
    ]) {
      expect([file, texts.has(file), asynchronous.has(file)]).toEqual([file, true, false]);
    }
  });

  test("no code that reads, searches or renders data reads a clock", () => {
    const clock =
      /\b(?:Date\.now|performance\.now|new Date\(\)|nanoseconds|hrtime|Temporal\.Now|setTimeout|setInterval)\b/;
    expect("const now = Date.now();").toMatch(clock);
    const timeless = /^(?:domain|search|sqlite|snapshot\/read|web)\//;
    // The scripts of the page need a clock to wait and count down.
    const found = filesWith(clock).filter((file) => timeless.test(file));
    expect(found).toEqual(["web/browser.ts", "web/document.ts"]);
    expect(texts.get("web/document.ts")?.replace(RESCUE, "")).not.toMatch(clock);
  });

  test.each<[what: string, code: RegExp, files: string[]]>([
    ["renames a file", /\brename(?:Sync)?\(/, ["files/replace.ts"]],
    ["has an error's body", /\bsuccess"?: *false\b/, ["http/result.ts"]],
    [
      "makes a Response",
      /\bnew Response\(|\bResponse\.(?:json|redirect|error)\(/,
      ["http/admin.ts", "http/fault-injection.ts", "http/response.ts"],
    ],
    [
      "reads process.env",
      /process\.env|process\["env"\]|Bun\.env|import\.meta\.env/,
      ["commands/command-line.ts"],
    ],
    ["imports process.env", /\benv\b[^}]*\} from "(?:node:process|bun)"/, []],
  ])("code that %s is only in its files", (_, code, expected) => {
    expect(filesWith(code)).toEqual(expected);
  });
});

describe("documents", () => {
  const documents = ["README.md", "ARCHITECTURE.md", ".github/CONTRIBUTING.md"];
  const folders = ["domain", "search", "snapshot", "limit", "http"];

  const guide = ["README", "database", "machines", "kiosk"];
  const pages = guide.map((page) => `scripts/deploy/${page}.md`);

  test.each([...documents, ...pages, ...folders.map((folder) => `src/${folder}/README.md`)])(
    "%s has no broken links to files and headings",
    (document) => {
      const text = readFileSync(join(root, document), "utf8");
      const broken = [...text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)].filter(
        ([, path = "", heading]) => {
          const file = path ? join(root, dirname(document), path) : join(root, document);
          if (!existsSync(file) || heading === undefined) return !existsSync(file);
          const headings = readFileSync(file, "utf8").match(/^#+ .*$/gm) ?? [];
          const slugs = headings.map((line) => line.replace(/^#+ |[^\w\s-]/g, ""));
          return !slugs.some((slug) => slug.toLowerCase().replaceAll(" ", "-") === heading);
        },
      );
      expect(broken.map(([link]) => link)).toEqual([]);
    },
  );

  test("every file that ARCHITECTURE.md names exists", () => {
    const named = [...architecture.matchAll(/`((?:[\w@-]+\/)*[\w.-]+\.(?:ts|json))`/g)].map(
      ([, path = ""]) => path,
    );
    const exists = (path: string) =>
      ["", "src", "src/snapshot"].some((folder) => existsSync(join(root, folder, path))) ||
      allFiles.some((file) => basename(file) === path);
    expect(named.filter((path) => !exists(path))).toEqual([]);
    expect(named.length).toBeGreaterThan(10);
  });
});

test("every action in a workflow is pinned by its commit, with the version beside it", () => {
  const folder = join(root, ".github/workflows");
  const uses = readdirSync(folder).flatMap((file) =>
    readFileSync(join(folder, file), "utf8").match(/uses:.*/g),
  );
  expect(uses.length).toBeGreaterThan(5);
  for (const line of uses) expect(line).toMatch(/^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v[\d.]+$/);
});
