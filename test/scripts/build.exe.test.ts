/**
 * Tests that the build is reproducible, contains no paths from the machine, and can bundle an
 * operator's data.
 */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { community, readyOrigin, root, run, temporaryFolder } from "../support.ts";

async function build(...options: string[]) {
  const outfile = join(temporaryFolder(), options.includes("--dataset") ? "custom" : "roadbook");
  const command = [process.execPath, "scripts/build.ts", "--outfile", outfile, ...options];
  const env = { PATH: process.env.PATH ?? "", SOURCE_DATE_EPOCH: "1700000000" };
  return { ...(await run(command, { cwd: root, env })), outfile };
}

async function bytesOf(path: string): Promise<Buffer> {
  return Buffer.from(await Bun.file(path).arrayBuffer());
}

test("two builds have the same bytes, without the project's path, and serve the given dataset", async () => {
  const [a, b] = await Promise.all([build("--dataset", community), build("--dataset", community)]);
  expect([a.code, a.stderr]).toEqual([0, ""]);
  const bytes = await bytesOf(a.outfile);
  expect(bytes.equals(await bytesOf(b.outfile))).toBe(true);
  expect(bytes.includes(root)).toBe(false);
  const server = Bun.spawn([a.outfile, "--port", "0"], {
    cwd: temporaryFolder(),
    env: {},
    stdout: "pipe",
    stderr: "ignore",
  });
  try {
    const origin = await readyOrigin(server.stdout);
    expect((await fetch(`${origin}/users/public/45`)).status).toBe(200);
    expect(await (await fetch(`${origin}/users/public/42`)).json()).toMatchObject({
      user: { name: "Łukasz Nowak", company: { id: 3 } },
    });
    expect((await fetch(`${origin}/users/public/43`)).status).toBe(403);
    expect(await (await fetch(`${origin}/health`)).text()).toContain("2023-11-14T22:13:20Z");
    expect(await (await fetch(origin)).text()).toContain('href="/drivers/42"');
  } finally {
    server.kill();
    await server.exited;
  }
});

test.each([
  [["--dataset", join(root, "package.json")], "line 1"],
  [["--dataset", "/nowhere"], "cannot read /nowhere"],
  [["--target", "amiga"], "Allowed choices are linux-x64,"],
  [["--nonsense"], "--nonsense"],
])("%p builds nothing and fails with a message that contains %p", async (options, message) => {
  const { code, stderr, outfile } = await build(...options);
  expect(code).not.toBe(0);
  expect(stderr).toContain(message);
  expect(await Bun.file(outfile).exists()).toBe(false);
});
