/** Enforces the layers and invariants described in ARCHITECTURE.md, and checks links. */
import { describe, expect, test } from "bun:test";
import { existsSync, linkSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { loadCommands } from "../src/commands/command-line.ts";
import { applyChanges } from "../src/import/apply.ts";
import { importDataset } from "../src/import/import.ts";
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

/** Returns the files of src that a file imports. */
function importedFiles(file: string): string[] {
  const paths = importsOf(texts.get(file) ?? "").filter((path) => path.startsWith("."));
  return paths.map((path) => join(dirname(file), path));
}

/** Returns the first line of a file that matches, with its place. */
function findLine(file: string, code: RegExp): string | undefined {
  const text = texts.get(file) ?? "";
  const before = code.exec(text)?.index;
  if (before === undefined) return undefined;

  const line = text.slice(0, before).split("\n").length;
  return `src/${file}:${line}: ${text.split("\n")[line - 1]?.trim()}`;
}

/** Fails unless all of `allowed`, and no others of `among`, match. Names the line and the cure. */
function expectOnlyIn(allowed: string[], code: RegExp, cure: string, among = files): void {
  const matching = among.filter((file) => findLine(file, code) !== undefined);
  const others = matching.filter((file) => !allowed.includes(file));
  expect(others.map((file) => `${findLine(file, code)}\n  ${cure}`)).toEqual([]);
  // Otherwise, the list of allowed files is too long, or the pattern finds nothing.
  expect(matching).toEqual(allowed);
}

/** Returns the rule that an import breaks, if any. */
function brokenRule(file: string, path: string): string | undefined {
  const layer = layerOf(file);
  if (path === "#sqlite") {
    const isAllowed = ["files", "tables", "snapshot", "import"].includes(layer);
    return isAllowed ? undefined : "only files, tables, snapshot and import use SQLite";
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
  if (isReader && /^(?:snapshot\/format|import)\//.test(file))
    return "a writer may not import a reader";
  const from = layers.indexOf(layer);
  const to = layers.indexOf(layerOf(target));
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
    expect(brokenRule("import/write-rows.ts", "../snapshot/read/open.ts")).toContain(
      "not import a reader",
    );
    expect(importsOf([...texts.values()].join("\n")).length).toBeGreaterThan(200);
  });

  test("the routes of one feature do not import the routes of another", () => {
    const features = ["users", "search", "health", "docs", "pages/pages"];
    const paths = features.map((feature) => `http/${feature}.ts`);
    for (const path of paths) {
      const imports = importedFiles(path);
      expect(imports).not.toBeEmpty();
      for (const other of paths) expect(imports).not.toContain(other);
    }
  });

  test.each([
    ["serve", "Node's streams", /node:(?:child_process|crypto|https?|net|stream|tls|tty|zlib)\b/],
    ["health", "the file system", /node:|bun:/],
    ["check", "the schemas of datasets", /typebox|elysia/],
  ])("%s starts without %s, which would take a tenth of its start", (command, _what, unwanted) => {
    const code = /^(?:import|export) (?!type\b)(?:[^;]*? from )?"([^"]+)"/gm;
    const loaded = new Set(["main.ts", `commands/${command}.ts`]);
    const outside = new Set<string>();
    for (const file of loaded) {
      for (const [, path = ""] of (texts.get(file) ?? "").matchAll(code)) {
        if (path.startsWith("."))
          loaded.add(relative(source, resolve(source, dirname(file), path)));
        else outside.add(path);
      }
    }
    expect(loaded).toContain("settings/value-types.ts");
    expect([...outside].filter((path) => unwanted.test(path))).toEqual([]);
    expect(importsOf([...texts.values()].join("\n")).some((path) => unwanted.test(path))).toBe(
      true,
    );
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
    // FTS5 and its tables, bulk inserts, working tables, JSON as a table, and id maps. The files in src/tables read others' tables.
    expectOnlyIn(
      [
        "import/complete-rows.ts",
        "import/id-map.ts",
        "import/write-rows.ts",
        "search/index-reader.ts",
        "search/name-index.ts",
        "search/vocabulary.ts",
      ],
      /\.prepare[<(](?!\))/,
      "query with drizzle, or where that is too slow with prepareText of src/sqlite/driver.ts",
      files.filter((file) => !/^(sqlite|tables)/.test(file)),
    );
  });

  test("reading a snapshot and responding from it are synchronous, but for pauses", () => {
    const routes = ["users", "health", "pages/read-views"];
    const synchronous = [
      ...routes.map((name) => `http/${name}.ts`),
      "snapshot/read/queries.ts",
      "search/find.ts",
      "search/index-reader.ts",
    ];
    expect(files).toEqual(expect.arrayContaining(synchronous));
    expectOnlyIn(
      [],
      /\b(?:async|await|Promise)\b/,
      "read the snapshot in one go, or a response could mix two; waiting belongs in another file",
      synchronous,
    );
    // In its argument, which is a generator, nothing can be awaited.
    expect(findLine("http/search.ts", /await reloadable\.readWithPauses\(/)).toBeDefined();
    expectOnlyIn(
      [],
      /\bcurrent\(|\bawait (?!reloadable\.readWithPauses\(|admit\(|counters\?)/,
      "read in readWithPauses, which begins again if the snapshot was replaced in a pause",
      ["http/search.ts"],
    );
    expectOnlyIn(
      [],
      /\bawait (?!reloadable\.readWithPauses\()/,
      "read in readWithPauses, which begins again if the snapshot was replaced in a pause",
      ["http/pages/page-files.ts"],
    );
  });

  test("no code that reads, searches or renders a snapshot reads a clock", () => {
    const clock =
      /\b(?:Date\.now|performance\.now|new Date\(\)|nanoseconds|hrtime|Temporal\.Now|setTimeout|setInterval)\b/;
    expect("const now = Date.now();").toMatch(clock);
    const timeless = /^(?:domain|community|sqlite|search|snapshot\/(?:format|read)|web)\//;
    expectOnlyIn(
      // The scripts of the page need a clock to wait and count down.
      ["web/browser.ts", "web/kiosk-rescue.ts", "web/kiosk.ts"],
      clock,
      "take the time as a parameter from src/http or src/server, so that the result is repeatable",
      files.filter((file) => timeless.test(file)),
    );
  });

  test("comments name only files that exist", () => {
    const comments = files.flatMap((file) => [
      ...(texts.get(file) ?? "").matchAll(/\/\/.*|\/\*\*[\s\S]*?\*\//g),
    ]);
    const named = comments.flatMap(([comment]) => comment.match(/[\w./-]*\w\.ts\b/g) ?? []);
    const exists = (path: string) => allFiles.some((file) => `/${file}`.endsWith(`/${path}`));
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((path) => !exists(path))).toEqual([]);
  });

  test("messages and comments name only flags that exist", async () => {
    const commands = Object.values(await loadCommands());
    const settings = commands.flatMap(({ settings }) => Object.values(settings));
    // Those of mysql, soffice, psql and systemd. --admin- begins the name of several flags.
    const others = ["--batch", "--convert-to", "--csv", "--ready", "--admin-"];
    const known = new Set([...settings.map(({ name }) => name), "--help", "--version", ...others]);
    // Those of a style sheet begin like flags.
    const read = files.filter((file) => !file.startsWith("web/") && file !== "http/docs.ts");
    const named = read.flatMap((file) =>
      [...(texts.get(file) ?? "").matchAll(/(?<![\w-])--[a-z][a-z\d-]*/g)].map(([flag]) => flag),
    );
    expect(named.length).toBeGreaterThan(100);
    expect(named.filter((flag) => !known.has(flag))).toEqual([]);
  });

  test.each<[what: string, code: RegExp, allowed: string[], cure: string]>([
    [
      "renames a file",
      /\brename(?:Sync)?\(/,
      ["files/replace.ts"],
      "call replaceFile of src/files/replace.ts, which locks, flushes and cleans up",
    ],
    [
      "has an error's body",
      /\bsuccess"?: *false\b/,
      ["http/errors.ts"],
      "return fail(code) of src/http/errors.ts; src/http/endpoints.ts has the codes",
    ],
    [
      "makes a Response",
      /\bnew Response\(|\bResponse\.(?:json|redirect|error)\(/,
      ["http/dropped-connection.ts", "http/response.ts", "server/admin.ts"],
      "return an object, or a Content of src/http/content.ts; response.ts makes the Response of it",
    ],
  ])("code that %s is only in its files", (_, code, allowed, cure) => {
    expectOnlyIn(allowed, code, cure);
  });
});

describe("documents", () => {
  const top = ["README", "ARCHITECTURE", "CHANGELOG", ".github/CONTRIBUTING", ".github/SECURITY"];
  const documents = [
    ...top.map((name) => `${name}.md`),
    "findings/README.md",
    ...allFiles.filter((file) => file.endsWith(".md")),
  ];

  test.each(documents)("%s has no broken links to files and headings", (document) => {
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
  });

  test("every file of code begins with a comment that says what it is for", () => {
    const silent = allFiles.filter((file) => {
      const isCode = /(?<!\.d)\.m?ts$/.test(file);
      return isCode && !/^(?:#!.*\n)?\/\*\*/.test(readFileSync(join(root, file), "utf8"));
    });
    expect(silent).toEqual([]);
  });

  const maps = [
    "ARCHITECTURE.md",
    ".github/CONTRIBUTING.md",
    "test/README.md",
    "findings/README.md",
  ];

  test.each(maps)("every file that %s names exists", (document) => {
    const text = readFileSync(join(root, document), "utf8");
    // A name in capitals, such as `CODE.json`, stands for others.
    const named = [...text.matchAll(/`((?:[\w@-]+\/)*[a-z][\w.-]*\.(?:ts|json))`/g)].map(
      ([, path = ""]) => path,
    );
    const exists = (path: string) =>
      ["", "src", "src/snapshot"].some((folder) => existsSync(join(root, folder, path))) ||
      allFiles.some((file) => basename(file) === path);
    expect(named.filter((path) => !exists(path))).toEqual([]);
    expect(named.length).toBeGreaterThan(4);
  });

  test("findings/README.md has one line for each script", () => {
    const readme = readFileSync(join(root, "findings/README.md"), "utf8");
    const linked = [...readme.matchAll(/\]\(([\w-]+\.sh)\)/g)].map(([, name = ""]) => name);
    const scripts = readdirSync(join(root, "findings")).filter((name) => /-.*\.sh$/.test(name));
    expect(linked.sort()).toEqual(scripts.sort());
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
