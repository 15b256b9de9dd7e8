/**
 * Measures how long Node.js takes to import the npm package, beside Fastify. Both are installed
 * from the registry's packages in a new folder, as their users get them.
 */
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { devDependencies } from "../../package.json" with { type: "json" };
import { root, run, temporaryFolder } from "../../test/support.ts";
import { alternate, formatRounds, type Options, tableOf } from "./measure.ts";

const ROUNDS = 9;
const NODE = `node-${process.platform}-${process.arch}@24.21.0`;

export async function benchLibrary({ isQuick }: Options): Promise<void> {
  const out = join(temporaryFolder(), "package");
  await succeed([process.execPath, "scripts/package.ts", "--out", out], root);
  const [tarball = ""] = readdirSync(dirname(out)).filter((file) => file.endsWith(".tgz"));
  const folder = temporaryFolder();
  await Bun.write(join(folder, "package.json"), "{}");
  const packages = [join(dirname(out), tarball), `fastify@${devDependencies.fastify}`];
  const node = `node@npm:${NODE}`;
  await succeed(["npm", "install", "--no-audit", "--no-fund", ...packages, node], folder);

  const subjects = {
    roadbook: "roadbook",
    "roadbook/elysia": "roadbook/elysia",
    fastify: "fastify",
  };
  const measure = async (name: string) => {
    const program = `const t = performance.now(); await import("${name}");
      console.log(performance.now() - t)`;
    const command = [join(folder, "node_modules/node/bin/node"), "--input-type=module"];
    return Number(await succeed([...command, "--eval", program], folder));
  };
  // Warm up, because the first import reads the files from disk.
  for (const name of Object.values(subjects)) await measure(name);
  const results = await alternate(isQuick ? 1 : ROUNDS, subjects, measure);
  const rows = Object.keys(subjects).map((name) => [`\`${name}\``, formatRounds(results(name))]);
  console.log(tableOf(["import", "ms:"], rows));
}

async function succeed(command: string[], cwd: string): Promise<string> {
  const { code, stdout, stderr } = await run(command, { cwd });
  if (code !== 0) throw new Error(`${command.join(" ")}: ${stderr}`);
  return stdout;
}
