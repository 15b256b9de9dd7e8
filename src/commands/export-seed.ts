/** `roadbook export` and `roadbook seed` write a dataset to standard output or to a file. */
import { createWriteStream, existsSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { seedDataset } from "../community/community.ts";
import { withEndLine } from "../domain/dataset.ts";
import { readFileBytes, readLines } from "../files/input.ts";
import { type Paths, replaceFile } from "../files/replace.ts";
import { notOverwritten } from "../snapshot/import/overwrite-guard.ts";
import { exportDataset } from "../snapshot/read/export.ts";
import { chunksOf, endOnSignal, writeStdout } from "./output.ts";

/** Without `to`, the dataset goes to standard output. */
type Output = { to: string | undefined; force: boolean };

export async function runExport({ file, ...output }: Output & { file: string }): Promise<void> {
  await writeLines(await exportDataset(file), output);
}

type Seed = { users: number; companies: number | undefined; seed: number };

export async function runSeed({ users, companies, seed, ...output }: Output & Seed): Promise<void> {
  const size = { users, companies: companies ?? Math.ceil(users / 25) };
  const lines = seedDataset({ ...size, seed }).map((line) => JSON.stringify(line));
  await writeLines(withEndLine(lines), output);
}

async function writeLines(lines: Iterable<string>, { to, force }: Output): Promise<void> {
  if (to === undefined) {
    for await (const chunk of chunksOf(lines)) if (!writeStdout(chunk)) return;
    return;
  }
  const fill = async ({ path, old }: Paths) => {
    if (!force && existsSync(old)) await refuseForeign(old, to);
    // Opens without creating, because the file must stay gone if a signal has removed it.
    await pipeline(chunksOf(lines), createWriteStream(path, { flags: "r+" }));
  };
  await endOnSignal((onCommit) => replaceFile(to, fill, { onCommit }));
}

/** Throws unless the file at `path` is empty or starts like an export. The error names `target`. */
async function refuseForeign(path: string, target: string): Promise<void> {
  for await (const [line] of readLines(readFileBytes(path))) {
    if (line?.text.startsWith('{"type":"')) return;
    throw new Error(notOverwritten(target, "a dataset"));
  }
}
