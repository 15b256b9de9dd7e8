/** The typed client under Node. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { community, openInProcess, root, run, temporaryFolder } from "./support.ts";

test("the client bundles into one file without imports, which runs under Node", async () => {
  const target = await openInProcess({ dataset: community });
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) => target.fetch(new URL(url).pathname),
  });
  const folder = temporaryFolder();
  const outfile = join(folder, "client.mjs");
  const built = await Bun.build({
    entrypoints: [join(root, "src/client.ts")],
    target: "node",
    naming: "client.mjs",
    outdir: folder,
  });
  expect(built.success).toBe(true);
  expect(await Bun.file(outfile).text()).not.toMatch(/\b(import|require)\b/);
  const script = `
    import { createClient, RoadbookError } from ${JSON.stringify(outfile)};
    const client = createClient(process.argv[1]);
    const { name } = await client.getPublicUser(42);
    const error = await client.getPublicUser(43).catch((error) => error);
    console.log(JSON.stringify([name, error instanceof RoadbookError, error.status, error.code]));`;
  const node = ["node", "--input-type=module", "-e", script, `${server.url.origin}/api/`];
  const { stdout, stderr } = await run(node);
  expect([stderr, stdout]).toEqual(["", '["Łukasz Nowak",true,403,"profile_private"]\n']);
  await server.stop(true);
  await target.close();
});
