/** Tests that the build bundles an operator's data and gives the same bytes each time. */
import { expect, test } from "bun:test";
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  executable,
  fixture,
  root,
  run,
  spawnServer,
  temporaryFolder,
  tryProgram,
} from "../support.ts";

async function build(dataset: string) {
  const outfile = join(temporaryFolder(), "custom");
  const flags = ["--dataset", dataset, "--outfile", outfile];
  const env = { PATH: process.env.PATH ?? "", SOURCE_DATE_EPOCH: "1700000000" };
  const command = [process.execPath, "scripts/build.ts", ...flags];
  return { ...(await run(command, { cwd: root, env })), outfile };
}

test("two builds have the same bytes, without the project's path, and serve the given dataset", async () => {
  const [a, b] = await Promise.all([build(fixture), build(fixture)]);
  expect([a.code, a.stderr]).toEqual([0, ""]);
  const bytes = readFileSync(a.outfile);
  expect(bytes.equals(readFileSync(b.outfile))).toBe(true);
  expect(bytes.includes(root)).toBe(false);
  const { origin, close } = await spawnServer([a.outfile, "--port", "0"], {
    cwd: temporaryFolder(),
    env: {},
  });
  const textAt = async (path: string) => (await fetch(origin + path)).text();
  expect(await textAt("/users/public/42")).toContain("Łukasz Nowak");
  expect(await textAt("/users/public/43")).toContain("profile_private");
  expect(await textAt("/health")).toContain("2023-11-14T22:13:20Z");
  await close();
});

test("an invalid dataset fails the build, which leaves no executable", async () => {
  const { code, stderr, outfile } = await build(join(root, "package.json"));
  expect([code, existsSync(outfile)]).toEqual([1, false]);
  expect(stderr).toContain("one object per line");
});

test.if(tryProgram("strip"))(
  "a stripped executable is a bare Bun, as packagers are told",
  async () => {
    const stripped = join(temporaryFolder(), "stripped");
    copyFileSync(await executable(), stripped);
    expect((await run(["strip", stripped])).code).toBe(0);
    expect((await run([stripped, "--version"])).stdout).toBe(`${Bun.version}\n`);
  },
);

test("the smoke test of a release passes for the executable, and fails for another program", async () => {
  const smoke = (program: string) => run(["scripts/release/smoke", program], { cwd: root });
  const [good, bad] = await Promise.all([smoke(await executable()), smoke("/bin/echo")]);
  const steps = good.stdout.match(/(?<=^ok: ).*$/gm);
  expect([good.code, steps]).toEqual([
    0,
    ["started", "four endpoints", "import", "apply", "hide", "stopped"],
  ]);
  expect([bad.code, bad.stdout]).toEqual([1, expect.stringContaining("did not get ready")]);
});
