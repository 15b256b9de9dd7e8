/** The generated community is the same on every platform. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { seedDataset } from "../../src/community/community.ts";
import { root, run, temporaryFolder, tryProgram } from "../support.ts";

const options = { users: 4000, companies: 160, seed: 5 };

test.if(tryProgram("node"))("V8 and JavaScriptCore generate the same bytes", async () => {
  const folder = temporaryFolder();
  await Bun.write(
    join(folder, "print.ts"),
    `import { seedDataset } from "${join(root, "src/community/community.ts")}";
     for (const line of seedDataset(${JSON.stringify(options)})) console.log(JSON.stringify(line));`,
  );
  await Bun.build({ entrypoints: [join(folder, "print.ts")], target: "node", outdir: folder });
  const { stdout } = await run(["node", join(folder, "print.js")], { cwd: folder });
  expect(Bun.hash(stdout)).toBe(
    Bun.hash([...seedDataset(options)].map((line) => `${JSON.stringify(line)}\n`).join("")),
  );
});
