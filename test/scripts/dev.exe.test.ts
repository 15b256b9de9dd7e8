/** `bun run dev` on a copy of the project, because other tests read the files that change here. */
import { expect, test } from "bun:test";
import { appendFileSync, cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scripts } from "../../package.json" with { type: "json" };
import { root, temporaryFolder, until } from "../support.ts";

test("bun run dev serves each change, shows where a mistake is, and waits until it is mended", async () => {
  const folder = temporaryFolder();
  for (const name of ["src", "data", "scripts/dev.ts", "package.json", "tsconfig.json"])
    cpSync(join(root, name), join(folder, name), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));

  // Without the installation before it.
  const command = scripts.dev.split(" && ").at(-1) ?? "";
  const server = Bun.spawn([...command.replace("bun", process.execPath).split(" "), "--port=0"], {
    cwd: folder,
    stdout: "pipe",
    stderr: "pipe",
  });
  let output = "";
  const append = (chunk: Uint8Array) => {
    output += Buffer.from(chunk).toString();
  };
  const ends = [server.stdout, server.stderr].map((stream) =>
    stream.pipeTo(new WritableStream({ write: append })),
  );
  const nextOrigin = async () => {
    const origin = await until(() => /^roadbook listening on (\S+)\n/m.exec(output)?.[1]);
    output = "";
    return origin;
  };

  /** Which files the page loads. Their names change with their contents. */
  const assets = async () => {
    const page = await (await fetch(`${await nextOrigin()}/`)).text();
    return page.match(/\/assets\/page-\w+\.(?:css|js)/g);
  };
  const [style, script] = (await assets()) ?? [];
  appendFileSync(join(folder, "src/web/style.css"), "\n.new { color: red; }\n");
  const [newStyle, sameScript] = (await assets()) ?? [];
  expect([newStyle !== style, sameScript]).toEqual([true, script]);
  appendFileSync(join(folder, "src/web/browser.ts"), "\nconsole.log(1);\n");
  const [sameStyle, newScript] = (await assets()) ?? [];
  expect([sameStyle, newScript !== script]).toEqual([newStyle, true]);

  const path = join(folder, "src/http/users.ts");
  const text = readFileSync(path, "utf8");
  writeFileSync(path, `const wrong = = 1;\n${text}`);
  await until(() => output.includes("users.ts:1:15"));
  expect(output).toContain("1 | const wrong = = 1;");
  writeFileSync(path, text);
  await nextOrigin();

  server.kill("SIGINT");
  expect(await server.exited).toBe(0);
  await Promise.all(ends);
});
