/**
 * `bun scripts/release/rehearse.ts [VERSION] [--skip-tests]` rehearses a release in a new clone: makes
 * the version and its tag, runs each step of the release workflow that needs no account, prints the
 * others, and ends with a table of where the executables work. Needs what .ci/run needs.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { version as current } from "../../package.json" with { type: "json" };

const root = join(import.meta.dir, "../..");
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Leave out .ci/run, which takes the longest. */
    "skip-tests": { type: "boolean" },
  },
});
const version = positionals[0] ?? current.replace(/-dev$/, "");
const tag = `v${version}`;
const folder = mkdtempSync(join(tmpdir(), "roadbook-rehearsal-"));
const clone = join(folder, "clone");
const startMs = performance.now();

try {
  run("clone", `git clone --quiet "${root}" "${clone}"`, root);
  if (current !== version) {
    const author = "-c user.name=Rehearsal -c user.email=rehearsal@localhost";
    run("set the version", `bun scripts/release/version.ts set ${version}`);
    run("commit", `git ${author} commit --quiet --all --message 'Release ${version}'`);
  }
  run("tag", `git tag --force ${tag}`);
  run("check the tag", `bun scripts/release/version.ts check ${tag}`);
  if (!values["skip-tests"]) run("test", ".ci/run");
  run("build twice", "scripts/release/run");
  run("lint the Debian packages", "scripts/release/lint dist/*.deb");
  run("pack for npm", "npm publish --dry-run --silent --access public ./dist/*.tgz");
  run("notes", `bun scripts/release/version.ts notes ${version}`);
  await printOthers();
  run("execute", "ROADBOOK_REQUIRE_ALL=1 bun scripts/release/execute.ts dist");
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Runs a command of the shell, which prints what it does. Throws if it fails. */
function run(step: string, command: string, cwd = clone): void {
  const minutes = ((performance.now() - startMs) / 60_000).toFixed(1);
  process.stdout.write(`== ${minutes} min: ${step}\n`);
  const stdio = ["ignore", "inherit", "inherit"] as const;
  const { success } = Bun.spawnSync(["bash", "-ec", command], { cwd, stdio: [...stdio] });
  if (!success) throw new Error(`${command} failed`);
}

interface Job {
  permissions?: Record<string, string>;
  steps: { run?: string; uses?: string }[];
}

/** Prints the steps of the jobs that may write, which are those that publish. */
async function printOthers(): Promise<void> {
  const text = await Bun.file(join(clone, ".github/workflows/release.yml")).text();
  const { jobs } = Bun.YAML.parse(text) as { jobs: Record<string, Job> };
  process.stdout.write("== not run, because these need an account:\n");
  for (const [name, { permissions, steps }] of Object.entries(jobs)) {
    if (!Object.values(permissions ?? {}).includes("write")) continue;
    process.stdout.write(`${name}\n`);
    for (const step of steps) {
      const what = (step.run ?? `uses ${step.uses}`).trim().replaceAll("\n", "\n    ");
      process.stdout.write(`    ${what}\n`);
    }
  }
}
