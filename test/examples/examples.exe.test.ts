/**
 * Tests the package as its users get it: installed from its tarball, in every supported runtime and
 * test runner. Installs packages from npm, so it only runs if ROADBOOK_REQUIRE_ALL is set.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { makeSnapshot } from "../datasets.ts";
import {
  executable,
  findFreePort,
  fixture,
  isRequired,
  makeCertificate,
  openExecutable,
  readyOrigin,
  root,
  run,
  spawnServer,
  temporaryFolder,
  until,
} from "../support.ts";

/** The npm packages with the binaries, which need no install script as `node` and `deno` do. */
const platform = `${process.platform}-${process.arch}`;
const runtimes = {
  node20: `node-${platform}@20.20.2`,
  node22: `node-${platform}@22.23.3`,
  node24: `node-${platform}@24.21.0`,
  deno: `@deno/${platform}-glibc@2.9.6`,
};

const fixedTime = { SOURCE_DATE_EPOCH: "1700000000" };

const readme = await Bun.file(join(root, "scripts/package/README.md")).text();
const sections = readme.split(/^## /m);
/** The programs in a section of the README, each with its file name, command and text. */
const programsIn = (title: string) => {
  const section = sections.find((section) => section.startsWith(title)) ?? "";
  return [...section.matchAll(/^```js\n\/\/ (\S+): (.+)\n([\s\S]*?)^```/gm)].map(
    ([, file = "", command = "", text = ""]) => ({ file, command, text }),
  );
};
const [, shared = ""] = /begin with these lines:\n\n```js\n(.*?)^```/ms.exec(readme) ?? [];
const mounts = programsIn("In another server").map(({ text, ...program }) => {
  return { ...program, text: text.includes("createRoadbook") ? text : shared + text };
});
const [, nextConfig = ""] = /`(export default .*?)` in\s`next\.config\.js`/.exec(readme) ?? [];

const tests = programsIn("In your tests");
/** Jest's command is in a sentence, because Jest runs the same file as Bun. */
const [, jest = "", jestFile = ""] = /`(node \S+ \S+jest\.js (\S+))`/.exec(readme) ?? [];
const underJest = tests
  .filter(({ file }) => file === jestFile)
  .map((program) => ({ ...program, command: jest }));

if (!isRequired) console.warn("ROADBOOK_REQUIRE_ALL is not set: the package is not tested");

describe.if(isRequired)("the package", () => {
  let folder = "";
  let packed = "";
  let tarball = "";

  const inFolder = (command: string[], cwd = "") =>
    run(command, {
      cwd: join(folder, cwd),
      env: {
        PATH: `${folder}/node_modules/.bin:${process.env.PATH}`,
        HOME: folder,
        TMPDIR: temporaryFolder(),
        npm_config_yes: "false",
      },
    });
  /** Runs a command that must succeed. Returns its standard output. */
  const succeed = async (command: string[], cwd?: string) => {
    const { code, stdout, stderr } = await inFolder(command, cwd);
    expect({ command, code, output: stdout + stderr }).toMatchObject({ code: 0 });
    return stdout;
  };
  const node = (name: "node20" | "node22" | "node24") =>
    join(folder, "node_modules", name, "bin/node");
  const tool = (name: string) => join(folder, "node_modules/.bin", name);
  /** Splits a command from the README into words and puts in the paths of installed programs. */
  const commandOf = (command: string) => {
    const programs: Record<string, string> = {
      bun: process.execPath,
      node: node("node24"),
      npx: node("node24"),
      deno: join(folder, "node_modules/deno/deno"),
      next: tool("next"),
      vitest: tool("vitest"),
    };
    return command.split(" ").map((word) => programs[word] ?? word);
  };

  beforeAll(async () => {
    packed = join(temporaryFolder(), "package");
    folder = temporaryFolder();
    const pack = [process.execPath, "scripts/package.ts", "--out", packed];
    const env = { ...process.env, ...fixedTime };
    expect(await run(pack, { cwd: root, env })).toMatchObject({ code: 0 });
    const [name = ""] = readdirSync(dirname(packed)).filter((file) => file.endsWith(".tgz"));
    tarball = join(dirname(packed), name);
    cpSync(import.meta.dir, folder, { recursive: true });
    const packages = Object.entries(runtimes).map(([name, spec]) => `${name}@npm:${spec}`);
    const install = ["npm", "install", "--no-audit", "--no-fund", "--no-save", tarball];
    expect(await run([...install, ...packages], { cwd: folder })).toMatchObject({ code: 0 });
  });
  afterAll(() => rm(folder, { recursive: true }));

  test("uses the program's copy of Elysia, and contains documents, but no source code", () => {
    // The program has the oldest supported Elysia.
    expect(existsSync(join(folder, "node_modules/roadbook/node_modules/elysia"))).toBe(false);
    const files = readdirSync(packed, { recursive: true, encoding: "utf8" });
    const documents = ["CHANGELOG.md", "LICENSE", "README.md"];
    const folders = ["assets", "lib", "package.json", "types"];
    expect(readdirSync(packed).sort()).toEqual([...documents, ...folders]);
    expect(files.filter((file) => /(?<!\.d)\.ts$/.test(file))).toEqual([]);
    const code = files
      .filter((file) => file.endsWith(".js"))
      .map((file) => readFileSync(join(packed, file), "utf8"))
      .join("\n");
    // A comment with a path outside of the project would differ on another machine.
    expect(code).not.toMatch(/^\/\/ \.\.\/\.\./m);
  });

  test.each(["node --test", "bun test", "deno test --allow-all --no-check"])(
    "works with %s",
    async (command) => {
      await succeed([...commandOf(command), "./node/drivers.node.js"]);
    },
  );

  test("works with node --test on the oldest supported Node.js", async () => {
    await succeed([node("node22"), "--test", "node/drivers.node.js"]);
  });

  test.each([...tests, ...underJest])(
    "$file of the README passes: $command",
    async ({ file, command, text }) => {
      await Bun.write(join(folder, file), text);
      await succeed(commandOf(command));
    },
  );

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
        await until(async () => (await ask("/rb/health").catch(() => undefined))?.ok);
        const profile = await (await ask("/rb/users/public/42")).json();
        expect(profile.user.avatar_url).toBe(`${base}/rb/avatars/42.svg`);
        const { status, headers } = await ask("/rb/search/users?q=nowak");
        const left = command.includes("next") ? null : "29";
        expect([status, headers.get("x-ratelimit-remaining")]).toEqual([200, left]);
        const page = await (await ask("/rb/")).text();
        const [, script = ""] = /src="(\/rb\/assets\/[^"]+\.js)"/.exec(page) ?? [];
        expect((await ask(script)).status).toBe(200);
        if (text.includes("/hello")) expect(await (await ask("/hello")).text()).toBe("hello");
      } finally {
        child.kill();
        await child.exited;
      }
    },
  );

  test("the command and the library say that Node.js is too old", async () => {
    const sentence = "Roadbook needs Node.js 22.15.0 or later; this is 20.20.2\n";
    const command = await inFolder([node("node20"), tool("roadbook"), "--version"]);
    expect([command.code, command.stderr]).toEqual([1, `roadbook: ${sentence}`]);
    const program = "import('roadbook').catch(({ message }) => console.log(message))";
    expect(await succeed([node("node20"), "-e", program])).toBe(sentence);
  });

  test("on Node, TLS accepts only ciphers with forward secrecy", async () => {
    const { cert, key } = await makeCertificate("IP:127.0.0.1");
    const flags = ["serve", "--port", "0", "--tls-cert", cert, "--tls-key", key];
    const server = Bun.spawn([node("node24"), tool("roadbook"), ...flags], { stderr: "ignore" });
    const origin = await readyOrigin(server.stdout);
    for (const [cipher, isAccepted] of [
      ["ECDHE-RSA-AES128-GCM-SHA256", true],
      ["ECDHE-RSA-AES128-SHA", false],
      ["AES128-GCM-SHA256", false],
    ] as const) {
      const { host } = new URL(origin);
      const words = ["s_client", "-connect", host, "-tls1_2", "-cipher", cipher];
      const { stdout } = await run(["openssl", ...words]);
      expect([cipher, /Cipher is (?!\(NONE\))/.test(stdout)]).toEqual([cipher, isAccepted]);
    }
    server.kill();
    expect(await server.exited).toBe(0);
  });

  test("the tarball has the same bytes whatever the umask, and a list of its parts has its hash", async () => {
    const again = join(temporaryFolder(), "package");
    const pack = [process.execPath, "scripts/package.ts", "--out", again];
    const { code } = await run(["sh", "-c", 'umask 077 && exec "$@"', "sh", ...pack], {
      cwd: root,
      env: { ...process.env, ...fixedTime },
    });
    const bytes = readFileSync(join(dirname(again), basename(tarball)));
    expect([code, bytes.equals(readFileSync(tarball))]).toEqual([0, true]);
    const list = readFileSync(`${tarball}.cdx.json`, "utf8");
    expect(list).toContain(new Bun.CryptoHasher("sha256").update(bytes).digest("hex"));
  });

  test.each(["node22", "node24"] as const)("the command works on %s", async (name) => {
    const roadbook = (...words: string[]) => [node(name), tool("roadbook"), ...words];
    const file = `${name}.snapshot`;
    await succeed(roadbook("seed", "--users", "20", "--to", `${name}.ndjson`));
    await succeed(roadbook("import", `${name}.ndjson`, "--to", file));
    await succeed(roadbook("check", file));
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
    const flags = ["--snapshot", file, "--port", "0", "--fault", "profile:delay=300ms"];
    const { origin, close } = await spawnServer(roadbook("serve", ...flags), { cwd: folder });
    await succeed(roadbook("health", origin));
    // The server finishes a request in progress before it exits.
    const slow = fetch(`${origin}/users/public/1`);
    await fetch(`${origin}/health`);
    const exited = close();
    expect([(await slow).status, await exited]).toEqual([200, 0]);
  });

  test("its types, a generated client and the programs in its README compile and run", async () => {
    const document = await inFolder([await executable(), "openapi"]);
    await Bun.write(join(folder, "types/openapi.json"), document.stdout);
    const openapi = [node("node24"), tool("openapi-typescript"), "openapi.json"];
    await succeed([...openapi, "-o", "api-types.ts"], "types");
    const programs = [...readme.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, text = ""]) => text);
    expect([programs.length, mounts.length]).toEqual([2, 6]);
    expect([tests.length, underJest.length]).toEqual([2, 1]);
    for (const [i, text] of programs.entries()) {
      const program = text.startsWith("import")
        ? text
        : `import { createRoadbook } from "roadbook";\n\n${text}`;
      // Elysia's types need skipLibCheck.
      const project = program.includes("roadbook/elysia") ? "elysia" : "types";
      await Bun.write(join(folder, project, `readme-${i}.ts`), program);
      if (program.includes("roadbook.example")) continue;
      expect(await succeed([node("node24"), `types/readme-${i}.ts`])).toBe("");
    }
    for (const project of ["types", "elysia"]) {
      await succeed([node("node24"), tool("tsc"), "-p", project]);
    }
    await succeed([node("node24"), "--test", "elysia/mount.ts"]);

    const snapshot = await makeSnapshot(fixture);
    const limited = await openExecutable(["--snapshot", snapshot, "--search-limit", "2"]);
    const printed = await succeed([node("node24"), "types/client.ts", limited.origin]);
    expect(JSON.parse(printed)).toEqual({
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
  });

  // Not in `folder`, where other packages bring libraries that this one bundles.
  test.each([
    ["the library", "types", ["use.ts"], []],
    ["the Elysia app and Eden", "elysia", ["mount.ts"], ["elysia", "@elysiajs/eden"]],
  ])("nothing else is needed to compile a program with %s", async (...row) => {
    const [, project, files, packages] = row;
    const cwd = temporaryFolder();
    const { dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    for (const file of [...files, "tsconfig.json"]) {
      cpSync(join(folder, project, file), join(cwd, file));
    }
    await Bun.write(join(cwd, "package.json"), '{"type":"module"}');
    const specs = ["typescript", "@types/node", ...packages].map((name) => {
      return `${name}@${dependencies[name]}`;
    });
    const install = ["npm", "install", "--no-audit", "--no-fund", "--no-save", tarball, ...specs];
    expect(await run(install, { cwd })).toMatchObject({ code: 0 });
    const compiled = await run([node("node24"), "node_modules/typescript/bin/tsc"], { cwd });
    expect(compiled).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  test("no type comes from a library that the package bundles", () => {
    const manifest = JSON.parse(readFileSync(join(packed, "package.json"), "utf8"));
    const given = [
      ...Object.keys(manifest.dependencies),
      ...Object.keys(manifest.peerDependencies),
    ];
    for (const entry of ["library", "elysia"]) {
      const types = readFileSync(join(packed, `types/${entry}.d.ts`), "utf8");
      const used = [...types.matchAll(/(?:from|import\() ?"([^"]+)"/g)].map(
        ([, name = ""]) => name,
      );
      expect(used).not.toBeEmpty();
      expect(used.filter((name) => !name.startsWith("node:") && !given.includes(name))).toEqual([]);
    }
  });

  test("publint and Are the types wrong? find no problems", async () => {
    const stdout = await succeed([node("node24"), tool("publint"), "--strict", packed]);
    expect(stdout).toContain("All good!");
    // The package contains only ES modules, which Node.js can load with require() since 22.12.
    await succeed([node("node24"), tool("attw"), "--profile", "esm-only", tarball]);
  });
});
