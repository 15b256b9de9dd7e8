/**
 * The package as its users have it: packed, installed from the file in a fresh folder, and used by every
 * runtime and test runner that it is for. Installs from npm, so only a run that requires all does it.
 */
import { beforeAll, describe, expect, test } from "bun:test";
import { cpSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { chromiumPath } from "../browser.ts";
import { executable, root, run, temporaryFolder } from "../support.ts";

/** The programs of the npm packages `node` and `deno`, without their install scripts. */
const platform = `${process.platform}-${process.arch}`;
const runtimes = {
  node22: `node-${platform}@22.23.3`,
  node24: `node-${platform}@24.21.0`,
  deno: `@deno/${platform}-glibc@2.9.6`,
};

const isWanted = Boolean(process.env.ROADBOOK_REQUIRE_ALL);
if (!isWanted) {
  console.warn("ROADBOOK_REQUIRE_ALL is not set: the package is not tried");
}

describe.if(isWanted)("the package", () => {
  let folder = "";
  let packed = "";
  let tarball = "";

  const inFolder = (command: string[], cwd = folder, env: Record<string, string> = {}) =>
    run(command, {
      cwd,
      env: {
        PATH: `${folder}/node_modules/.bin:${process.env.PATH}`,
        HOME: folder,
        TMPDIR: temporaryFolder(),
        npm_config_yes: "false",
        ...env,
      },
    });
  const node = (name: "node22" | "node24") => join(folder, "node_modules", name, "bin/node");
  const tool = (name: string) => join(folder, "node_modules/.bin", name);
  const passes = { code: 0 };

  beforeAll(async () => {
    packed = join(temporaryFolder(), "package");
    const pack = [process.execPath, "scripts/package.ts", "--out", packed];
    expect(await run(pack, { cwd: root })).toMatchObject(passes);
    const [name = ""] = readdirSync(dirname(packed)).filter((file) => file.endsWith(".tgz"));
    tarball = join(dirname(packed), name);
    folder = temporaryFolder();
    cpSync(import.meta.dir, folder, { recursive: true });
    const aliases = Object.entries(runtimes).map(([name, spec]) => `${name}@npm:${spec}`);
    const install = ["npm", "install", "--no-audit", "--no-fund", "--no-save"];
    const command = [...install, tarball, ...aliases];
    expect(await run(command, { cwd: folder })).toMatchObject(passes);
  }, 300_000);

  test("holds what runs and what describes it, and nothing of the project's own", () => {
    const files = readdirSync(packed, { recursive: true, encoding: "utf8" });
    expect(readdirSync(packed).sort()).toEqual([
      "CHANGELOG.md",
      "LICENSE",
      "README.md",
      "assets",
      "data",
      "lib",
      "package.json",
      "types",
    ]);
    expect(files.filter((file) => /\.ts$/.test(file) && !file.endsWith(".d.ts"))).toEqual([]);
  });

  test.each(["node22", "node24"] as const)("node --test on %s", async (name) => {
    const command = [node(name), "--test", "node/drivers.node.js"];
    expect(await inFolder(command)).toMatchObject(passes);
  });

  test("Bun", async () => {
    const command = [process.execPath, "test", "./node/drivers.node.js"];
    expect(await inFolder(command)).toMatchObject(passes);
  });

  test("Deno", async () => {
    const deno = join(folder, "node_modules/deno/deno");
    const command = [deno, "test", "--allow-all", "--no-check", "node/drivers.node.js"];
    expect(await inFolder(command)).toMatchObject(passes);
  });

  test.each(["node22", "node24"] as const)(
    "Vitest on %s",
    async (name) => {
      const command = [node(name), join(folder, "node_modules/vitest/vitest.mjs"), "run"];
      expect(await inFolder(command, join(folder, "vitest"))).toMatchObject(passes);
    },
    60_000,
  );

  test.each(["node22", "node24"] as const)(
    "Jest on %s, as ES modules",
    async (name) => {
      const jest = join(folder, "node_modules/jest/bin/jest.js");
      const config = ["--config", "jest.config.json"];
      const command = [node(name), "--experimental-vm-modules", jest, ...config];
      expect(await inFolder(command, join(folder, "jest"))).toMatchObject(passes);
    },
    60_000,
  );

  test("tsc --strict finds nothing in it, its types' own dependencies included", async () => {
    const command = [node("node24"), tool("tsc"), "-p", "types"];
    expect(await inFolder(command)).toEqual({ code: 0, stdout: "", stderr: "" });
  }, 60_000);

  test("an Elysia program mounts it, and Eden knows its bodies", async () => {
    expect(await inFolder([node("node24"), tool("tsc"), "-p", "elysia"])).toEqual({
      code: 0,
      stdout: "",
      stderr: "",
    });
    const command = [node("node24"), "--test", "elysia/mount.ts"];
    expect(await inFolder(command)).toMatchObject(passes);
  }, 60_000);

  test("the programs of its README compile, and those that need no server run", async () => {
    const readme = await Bun.file(join(packed, "README.md")).text();
    const programs = [...readme.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, text = ""]) => text);
    expect(programs).toHaveLength(3);
    const withImport = programs.map((text) =>
      text.startsWith("import") ? text : `import { createRoadbook } from "roadbook";\n\n${text}`,
    );
    for (const [i, text] of withImport.entries()) {
      await Bun.write(join(folder, `types/readme-${i}.ts`), text);
      if (text.includes("roadbook/client")) continue;
      await Bun.write(join(folder, `readme-${i}.mjs`), text);
      expect(await inFolder([node("node24"), `readme-${i}.mjs`])).toEqual({
        code: 0,
        stdout: "",
        stderr: "",
      });
    }
    const command = [node("node24"), tool("tsc"), "-p", "types"];
    expect(await inFolder(command)).toEqual({ code: 0, stdout: "", stderr: "" });
  }, 60_000);

  test("the client bundles for browsers without anything else", async () => {
    const entry = join(folder, "node_modules/roadbook/lib/client.js");
    const { outputs } = await Bun.build({ entrypoints: [entry], target: "browser", minify: true });
    const text = (await outputs[0]?.text()) ?? "";
    expect(text).toContain("invalid_response");
    expect(text).not.toMatch(/\bimport\b|node:|typebox/);
    expect(text.length).toBeLessThan(5000);
  });

  test("publint finds nothing", async () => {
    const command = [node("node24"), tool("publint"), "--strict", packed];
    const { code, stdout } = await inFolder(command);
    expect([code, stdout]).toEqual([0, expect.stringContaining("All good!")]);
  });

  test("Are the types wrong? finds nothing", async () => {
    // It has ES modules only, which Node requires since 22.12.
    const command = [node("node24"), tool("attw"), "--profile", "esm-only"];
    expect(await inFolder([...command, tarball])).toMatchObject(passes);
  }, 60_000);

  test("Playwright, against the executable", async () => {
    const playwright = join(folder, "node_modules/@playwright/test/cli.js");
    const env = {
      ROADBOOK_BIN: await executable(),
      CHROMIUM: Bun.which(chromiumPath) ?? "",
    };
    const command = [node("node24"), playwright, "test"];
    const outcome = await inFolder(command, join(folder, "playwright"), env);
    expect(outcome).toMatchObject(passes);
  }, 120_000);
});
