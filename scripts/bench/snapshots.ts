/**
 * Owns the figures of what an operator waits for: import, apply, export, check, and how soon a running
 * server answers from a changed file. Through the executable, on an invented community.
 */
import { copyFileSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { executable, openExecutable } from "../../test/support.ts";
import { usersOf } from "./server.ts";

const SWAPS = 100;

/** `bun run bench snapshots [--size 100k|1M|10M]`, without a size for 100k and 1M. */
export async function benchSnapshots(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { size: { type: "string", multiple: true } } });
  for (const size of values.size ?? ["100k", "1M"]) await measure(size);
}

async function measure(size: string): Promise<void> {
  const program = await executable();
  const folder = mkdtempSync(join(tmpdir(), "roadbook-bench-"));
  const at = (name: string) => join(folder, name);
  const [dataset, snapshot] = [at("dataset.ndjson"), at("snapshot")];

  async function step(name: string, words: string[]): Promise<void> {
    const start = performance.now();
    const child = Bun.spawn([program, ...words], { stdout: "ignore", stderr: "inherit" });
    if ((await child.exited) !== 0) throw new Error(`${name} failed`);
    tell(name, performance.now() - start, child.resourceUsage()?.maxRSS);
  }

  try {
    process.stdout.write(
      `\n## ${size} users\n\n| step | seconds | peak memory, MB |\n| --- | --: | --: |\n`,
    );
    await step("seed", ["seed", "--users", String(usersOf(size)), "--to", dataset]);
    await step("import", ["import", dataset, "--to", snapshot]);
    copyFileSync(snapshot, at("other"));
    const [first = 0, second = 0, ...others] = await listPublicIds(dataset, 1002);
    writeFileSync(at("first"), goesPrivate(first));
    writeFileSync(at("second"), goesPrivate(second));
    writeFileSync(at("others"), others.map(goesPrivate).join(""));
    await step("apply: one user goes private", ["apply", at("first"), "--to", snapshot]);
    tell("until a running server answers so", await timeChange(snapshot, at("second"), second));
    await step("apply: a thousand go private", ["apply", at("others"), "--to", snapshot]);
    await step("export", ["export", snapshot, "--to", at("export.ndjson")]);
    await step("check", ["check", snapshot]);
    const swaps = await timeSwaps(snapshot, at("other"));
    tell("swap after SIGHUP, p50", swaps[swaps.length >> 1] ?? 0);
    tell("swap after SIGHUP, max", swaps.at(-1) ?? 0);
    const sizes = `The dataset has ${megabytes(dataset)} MB, the snapshot ${megabytes(snapshot)} MB.`;
    process.stdout.write(`\n${sizes}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function goesPrivate(id: number): string {
  return `{"type":"user","id":${id},"public":false}\n`;
}

/** The ids of so many public users, spread over the dataset. */
async function listPublicIds(dataset: string, count: number): Promise<number[]> {
  const file = Bun.file(dataset);
  const ids = new Set<number>();
  for (let index = 0; ids.size < count; index++) {
    // Users are the larger part of a dataset, and its end.
    const from = Math.floor(file.size * (0.2 + (0.7 * index) / (2 * count)));
    const text = await file.slice(from, from + 4096).text();
    const [, id] = /\n\{"type":"user","id":(\d+),"public":true/.exec(text) ?? [];
    if (id) ids.add(Number(id));
  }
  return [...ids];
}

/** From the start of the command to the first answer that is another; in milliseconds. */
async function timeChange(snapshot: string, changes: string, id: number): Promise<number> {
  const server = await openExecutable(["--snapshot", snapshot]);
  const start = performance.now();
  const child = Bun.spawn([await executable(), "apply", changes, "--to", snapshot], {
    stdout: "ignore",
  });
  while ((await server.fetch(`/users/public/${id}`)).status !== 403) await Bun.sleep(2);
  const ms = performance.now() - start;
  await child.exited;
  await server.close();
  return ms;
}

/** From the signal to the first answer of another file, each time; in milliseconds. */
async function timeSwaps(snapshot: string, other: string): Promise<number[]> {
  const server = await openExecutable(["--snapshot", snapshot]);
  const identity = async () => {
    const body = (await (await server.fetch("/health")).json()) as Health;
    return body.snapshot.dataset_sha256;
  };
  const times: number[] = [];
  for (let swaps = 0; swaps < SWAPS; swaps++) {
    const before = await identity();
    // The files change places while the server looks away.
    process.kill(server.pid, "SIGSTOP");
    renameSync(snapshot, `${snapshot}.spare`);
    renameSync(other, snapshot);
    renameSync(`${snapshot}.spare`, other);
    const start = performance.now();
    process.kill(server.pid, "SIGHUP");
    process.kill(server.pid, "SIGCONT");
    while ((await identity()) === before);
    times.push(performance.now() - start);
  }
  await server.close();
  return times.sort((one, other) => one - other);
}

interface Health {
  snapshot: { dataset_sha256: string };
}

function tell(step: string, ms: number, peakBytes?: number): void {
  const peak = peakBytes === undefined ? "" : String(Math.round(peakBytes / 1e6));
  const seconds = (ms / 1000).toFixed(ms < 100 ? 4 : 2);
  process.stdout.write(`| ${step} | ${seconds} | ${peak} |\n`);
}

function megabytes(path: string): number {
  return Math.round(statSync(path).size / 1e6);
}
