/**
 * Tests the package as its users get it: packed, installed from the tarball in a new folder, and
 * used in every supported runtime and test runner. The tests install packages from npm, so they
 * only run if ROADBOOK_REQUIRE_ALL is set.
 */
import { beforeAll, describe, expect, test } from "bun:test";
import { cpSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { chromiumPath } from "../browser.ts";
import {
  community,
  executable,
  findFreePort,
  importByExecutable,
  openExecutable,
  readyOrigin,
  root,
  run,
  temporaryFolder,
  until,
} from "../support.ts";

/**
 * The npm packages that contain the binaries of Node.js and Deno. Unlike the packages `node` and
 * `deno`, they need no install script.
 */
const platform = `${process.platform}-${process.arch}`;
const runtimes = {
  node20: `node-${platform}@20.20.2`,
  node22: `node-${platform}@22.23.3`,
  node24: `node-${platform}@24.21.0`,
  deno: `@deno/${platform}-glibc@2.9.6`,
};

/** The entry points of the programs in the README's commands, in node_modules. */
const programs = {
  deno: "deno/deno",
  next: "next/dist/bin/next",
  vitest: "vitest/vitest.mjs",
  playwright: "@playwright/test/cli.js",
};

const readme = await Bun.file(join(root, "scripts/package/README.md")).text();
const sections = readme.split(/^## /m);
/** The programs in a section of the README, each with its file name, command and text. */
const programsIn = (title: string) => {
  const section = sections.find((section) => section.startsWith(title)) ?? "";
  return [...section.matchAll(/^```js\n\/\/ (\S+): (.+)\n([\s\S]*?)^```/gm)].map(
    ([, file = "", command = "", text = ""]) => ({ file, command, text }),
  );
};
const mounts = programsIn("In another server");
const [, nextConfig = ""] = /^```js\n\/\/ next\.config\.js\n([\s\S]*?)^```/m.exec(readme) ?? [];

const isRequired = Boolean(process.env.ROADBOOK_REQUIRE_ALL);
if (!isRequired) {
  console.warn("ROADBOOK_REQUIRE_ALL is not set: the package is not tested");
}

const compilerOptions =
  "--strict --noEmit --module nodenext --target es2022 --types node --allowImportingTsExtensions".split(
    " ",
  );

describe.if(isRequired)("the package", () => {
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
  const node = (name: "node20" | "node22" | "node24") =>
    join(folder, "node_modules", name, "bin/node");
  const tool = (name: string) => join(folder, "node_modules/.bin", name);
  const passes = { code: 0 };
  /** Splits a command from the README into words and puts in the paths of installed binaries. */
  const commandOf = (command: string) =>
    command.split(" ").map((word) => {
      if (word === "bun") return process.execPath;
      if (word === "node" || word === "npx") return node("node24");
      const [path] =
        Object.entries(programs)
          .find(([name]) => name === word)
          ?.slice(1) ?? [];
      return path === undefined ? word : join(folder, "node_modules", path);
    });

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

  test("contains the compiled code and the documents, but no source code", () => {
    const files = readdirSync(packed, { recursive: true, encoding: "utf8" });
    expect(readdirSync(packed).sort()).toEqual([
      "CHANGELOG.md",
      "LICENSE",
      "README.md",
      "assets",
      "lib",
      "package.json",
      "types",
    ]);
    expect(files.filter((file) => /\.ts$/.test(file) && !file.endsWith(".d.ts"))).toEqual([]);
  });

  test.each(["node22", "node24"] as const)("works with node --test on %s", async (name) => {
    const command = [node(name), "--test", "node/drivers.node.js"];
    expect(await inFolder(command)).toMatchObject(passes);
  });

  test("works with bun test", async () => {
    const command = [process.execPath, "test", "./node/drivers.node.js"];
    expect(await inFolder(command)).toMatchObject(passes);
  });

  test("works with deno test", async () => {
    const deno = join(folder, "node_modules/deno/deno");
    const command = [deno, "test", "--allow-all", "--no-check", "node/drivers.node.js"];
    expect(await inFolder(command)).toMatchObject(passes);
  });

  test.each(["node22", "node24"] as const)(
    "works with Vitest on %s",
    async (name) => {
      const command = [node(name), join(folder, "node_modules/vitest/vitest.mjs"), "run"];
      expect(await inFolder(command, join(folder, "vitest"))).toMatchObject(passes);
    },
    60_000,
  );

  test.each(["node22", "node24"] as const)(
    "works with Jest on %s, as ES modules",
    async (name) => {
      const jest = join(folder, "node_modules/jest/bin/jest.js");
      const config = ["--config", "jest.config.json"];
      const command = [node(name), "--experimental-vm-modules", jest, ...config];
      expect(await inFolder(command, join(folder, "jest"))).toMatchObject(passes);
    },
    60_000,
  );

  test.each(programsIn("In your tests"))(
    "$file of the README passes: $command",
    async ({ file, command, text }) => {
      const ports: Record<string, number> = { 3000: findFreePort(), 9090: findFreePort() };
      const program = text.replace(/3000|9090/g, (port) => String(ports[port]));
      await Bun.write(join(folder, file), program);
      const [, flags] = /^\/\/ npx roadbook (.*)$/m.exec(program) ?? [];
      const server =
        flags === undefined
          ? undefined
          : Bun.spawn([node("node24"), tool("roadbook"), ...flags.split(" ")], {
              cwd: folder,
              stdout: "pipe",
              stderr: "ignore",
            });
      if (server) await readyOrigin(server.stdout);
      const outcome = await inFolder(commandOf(command));
      server?.kill();
      expect(outcome).toMatchObject(passes);
    },
    60_000,
  );

  test("its types and the types of its dependencies pass tsc --strict", async () => {
    const command = [node("node24"), tool("tsc"), "-p", "types"];
    expect(await inFolder(command)).toEqual({ code: 0, stdout: "", stderr: "" });
  }, 60_000);

  test("an Elysia program can mount it, and Eden knows the types of the bodies", async () => {
    expect(await inFolder([node("node24"), tool("tsc"), "-p", "elysia"])).toEqual({
      code: 0,
      stdout: "",
      stderr: "",
    });
    const command = [node("node24"), "--test", "elysia/mount.ts"];
    expect(await inFolder(command)).toMatchObject(passes);
  }, 60_000);

  test.each(mounts)(
    "responds when mounted under /rb: $command",
    async ({ file, command, text }) => {
      const port = String(findFreePort());
      await Bun.write(join(folder, "next.config.js"), nextConfig);
      await Bun.write(join(folder, file), text.replace("3000", port));
      const child = Bun.spawn(commandOf(command.replace("3000", port)), {
        cwd: folder,
        env: { ...process.env, HOME: folder, NEXT_TELEMETRY_DISABLED: "1" },
        stdout: "ignore",
        stderr: "ignore",
      });
      try {
        const base = `http://localhost:${port}`;
        const ask = (path: string) => fetch(base + path);
        await until(() =>
          ask("/rb/health").then(
            ({ ok }) => ok,
            () => false,
          ),
        );
        const profile = await (await ask("/rb/users/public/42")).json();
        expect(profile.user.avatar_url).toBe(`${base}/rb/avatars/42.svg`);
        const { status, headers } = await ask("/rb/search/users?q=nowak");
        const isCounted = !command.includes("next");
        expect([status, headers.get("x-ratelimit-remaining")]).toEqual([
          200,
          isCounted ? "29" : null,
        ]);
        const page = await (await ask("/rb/")).text();
        const [, script = ""] = /src="(\/rb\/assets\/[^"]+\.js)"/.exec(page) ?? [];
        expect((await ask(script)).status).toBe(200);
        if (text.includes("/hello")) expect(await (await ask("/hello")).text()).toBe("hello");
      } finally {
        child.kill();
        await child.exited;
      }
    },
    60_000,
  );

  test("the README shows six ways to mount it", () => {
    expect(mounts.map(({ file }) => file.replace(/\..*$/, ""))).toEqual([
      "bun",
      "deno",
      "hono",
      "express",
      "elysia",
      "app/rb/[[",
    ]);
  });

  test("the command and the library say in one sentence that Node.js is too old", async () => {
    const sentence = /^Roadbook needs Node\.js 22\.15 or later; this is v20\.20\.2\n$/;
    const command = await inFolder([node("node20"), tool("roadbook"), "--version"]);
    expect([command.code, command.stderr]).toEqual([1, expect.stringMatching(sentence)]);
    const program = "import('roadbook').catch(({ message }) => console.log(message))";
    const library = await inFolder([node("node20"), "-e", program]);
    expect(library.stdout).toMatch(sentence);
  });

  test.each(["node22", "node24"] as const)(
    "the command works on %s",
    async (name) => {
      const roadbook = (...words: string[]) => [node(name), tool("roadbook"), ...words];
      const seed = ["seed", "--users", "20", "--to", `${name}.ndjson`];
      expect(await inFolder(roadbook(...seed))).toMatchObject(passes);
      const file = `${name}.snapshot`;
      expect(await inFolder(roadbook("import", `${name}.ndjson`, "--to", file))).toMatchObject(
        passes,
      );
      expect(await inFolder(roadbook("check", file))).toMatchObject(passes);
      for (const [words, flag] of [
        [["--snapshot", "s3://bucket/key"], "--snapshot with s3://"],
        [["--rate-limit-store", "redis://localhost"], "--rate-limit-store"],
      ] as const) {
        expect(await inFolder(roadbook("serve", ...words))).toEqual({
          code: 2,
          stdout: "",
          stderr: `roadbook: ${flag} does not work on Node.js; use the executable or Bun\n`,
        });
      }
      const serve = roadbook(
        "serve",
        "--snapshot",
        file,
        "--port",
        "0",
        "--fault",
        "profile:delay=300ms",
      );
      const child = Bun.spawn(serve, { cwd: folder, stdout: "pipe", stderr: "ignore" });
      const origin = await readyOrigin(child.stdout);
      expect(await inFolder(roadbook("health", origin))).toMatchObject(passes);
      // The server finishes a request in progress before it exits.
      const slow = fetch(`${origin}/users/public/1`);
      await fetch(`${origin}/health`);
      child.kill("SIGTERM");
      expect([(await slow).status, await child.exited]).toEqual([200, 0]);
    },
    60_000,
  );

  test("the programs in its README compile, and run if they need no server", async () => {
    const readme = await Bun.file(join(packed, "README.md")).text();
    const programs = [...readme.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, text = ""]) => text);
    expect(programs).toHaveLength(3);
    const withImport = programs.map((text) =>
      text.startsWith("import") ? text : `import { createRoadbook } from "roadbook";\n\n${text}`,
    );
    await makeApiTypes("types");
    for (const [i, text] of withImport.entries()) {
      // Elysia's types need skipLibCheck.
      const project = text.includes("roadbook/elysia") ? "elysia" : "types";
      await Bun.write(join(folder, `${project}/readme-${i}.ts`), text);
      if (text.includes("roadbook.example")) continue;
      await Bun.write(join(folder, `readme-${i}.mjs`), text);
      expect(await inFolder([node("node24"), `readme-${i}.mjs`])).toEqual({
        code: 0,
        stdout: "",
        stderr: "",
      });
    }
    for (const project of ["types", "elysia"]) {
      const command = [node("node24"), tool("tsc"), "-p", project];
      expect(await inFolder(command)).toEqual({ code: 0, stdout: "", stderr: "" });
    }
  }, 60_000);

  /** Runs the README's command that makes the types of the API in `api-types.ts`. */
  async function makeApiTypes(project: string): Promise<void> {
    const { stdout } = await inFolder([await executable(), "openapi"]);
    await Bun.write(join(folder, project, "openapi.json"), stdout);
    const openapi = [node("node24"), tool("openapi-typescript"), "openapi.json"];
    const outcome = await inFolder([...openapi, "-o", "api-types.ts"], join(folder, project));
    expect(outcome).toMatchObject(passes);
  }

  test("a client generated by openapi-typescript compiles and needs no casts", async () => {
    await makeApiTypes("openapi");
    const config = [...compilerOptions, "client.ts"];
    const compiled = await inFolder(
      [node("node24"), tool("tsc"), ...config],
      join(folder, "openapi"),
    );
    expect(compiled).toEqual({ code: 0, stdout: "", stderr: "" });
    const snapshot = await importByExecutable(community);
    const limited = await openExecutable(["--snapshot", snapshot, "--search-limit", "2"]);
    const { stdout } = await inFolder([node("node24"), "openapi/client.ts", limited.origin]);
    expect(JSON.parse(stdout)).toEqual({
      company: "Baltic Express",
      noCompany: null,
      code: "profile_private",
      points: [0, 25, 5],
      companies: expect.arrayContaining(["Baltic Express"]),
      members: [],
      seconds: expect.any(Number),
      count: expect.any(Number),
    });
    await limited.close();
  }, 60_000);

  test("publint finds no problems", async () => {
    const command = [node("node24"), tool("publint"), "--strict", packed];
    const { code, stdout } = await inFolder(command);
    expect([code, stdout]).toEqual([0, expect.stringContaining("All good!")]);
  });

  test("Are the types wrong? finds no problems", async () => {
    // The package contains only ES modules, which Node.js can load with require() since 22.12.
    const command = [node("node24"), tool("attw"), "--profile", "esm-only"];
    expect(await inFolder([...command, tarball])).toMatchObject(passes);
  }, 60_000);

  test("works with Playwright, which tests the executable", async () => {
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
