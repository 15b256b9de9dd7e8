/** `roadbook export` and `roadbook seed` write a dataset: to standard output, a file or tables. */
import { createWriteStream, existsSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { setImmediate } from "node:timers/promises";
import { type CommunityOptions, seedDataset } from "../community/community.ts";
import { withEndLine } from "../domain/dataset.ts";
import { USERS_PER_COMPANY } from "../domain/limits.ts";
import { readFileBytes, STANDARD } from "../files/input.ts";
import { namingTarget, type Paths, replaceFile } from "../files/replace.ts";
import { readLines } from "../files/split-lines.ts";
import { UsageError } from "../settings/usage-error.ts";
import { notOverwritten } from "../snapshot/import/old-snapshot.ts";
import { exportDataset } from "../snapshot/read/export.ts";
import { tableNames } from "../tables/columns.ts";
import { toCsv } from "../tables/write-csv.ts";
import { endOnSignal } from "./signals.ts";
import { writeStdout } from "./stdout.ts";

/** Without `to`, the dataset goes to standard output. */
type Output = { to: string | undefined; force: boolean };

export async function runExport({ file, ...output }: Output & { file: string }): Promise<void> {
  using lines = await exportDataset(file);
  await writeLines(lines, output);
}

interface Seeding extends Output {
  users: number;
  companies: number | undefined;
  seed: number;
  /** The folder for CSV files, which are written instead of lines. */
  tables: string | undefined;
}

export async function runSeed({ tables, to, force, ...size }: Seeding): Promise<void> {
  const { users, companies = Math.ceil(users / USERS_PER_COMPANY) } = size;
  const options = { ...size, companies };
  if (tables === undefined) {
    const lines = seedDataset(options).map((line) => JSON.stringify(line));
    return writeLines(withEndLine(lines), { to, force });
  }
  if (to !== undefined) throw new UsageError("--to and --tables are mutually exclusive");
  await writeTables(tables, force, options);
}

async function writeLines(
  lines: Iterable<string>,
  { to = STANDARD, force }: Output,
): Promise<void> {
  if (to === STANDARD) {
    for await (const chunk of chunksOf(lines)) {
      if (!writeStdout(chunk)) return;
    }
    return;
  }
  const write = async (paths: Paths) => {
    if (!force && existsSync(paths.old)) await refuseForeign(paths.old, to);
    await fill(paths, lines);
  };
  await endOnSignal((onCommit) => replaceFile(to, write, { onCommit }));
}

/** Generates the community again for each table, so that memory does not grow with its size. */
async function writeTables(folder: string, force: boolean, options: CommunityOptions) {
  const files = tableNames.map((table) => ({ table, path: join(folder, `${table}.csv`) }));
  const taken = await namingTarget(folder, async () => {
    mkdirSync(folder, { recursive: true });
    return files.find(({ path }) => statSync(path, { throwIfNoEntry: false })?.size);
  });
  // Nobody can tell a generated table from one of the operator's.
  if (taken && !force) {
    throw new Error(`${taken.path} exists; choose another folder, or overwrite it with --force`);
  }
  const writeAll = async () => {
    for (const { table, path } of files) {
      await replaceFile(path, (paths) => fill(paths, toCsv(table, seedDataset(options))));
    }
  };
  await endOnSignal(writeAll, { left: `${folder} is incomplete` });
}

async function fill({ next }: Paths, lines: Iterable<string>): Promise<void> {
  // Opens without creating, because the file must stay gone if a signal has removed it.
  await pipeline(chunksOf(lines), createWriteStream(next, { flags: "r+" }));
}

/** Joins lines to chunks of some 64 KB. */
async function* chunksOf(lines: Iterable<string>): AsyncGenerator<string> {
  let text = "";
  for (const line of lines) {
    text += `${line}\n`;
    if (text.length < 2 ** 16) continue;
    yield text;
    text = "";
    // Gives the event loop a chance to handle signals.
    await setImmediate();
  }
  yield text;
}

/** Throws unless the file at `path` is empty or starts like an export. The error names `target`. */
async function refuseForeign(path: string, target: string): Promise<void> {
  for await (const [line] of readLines(readFileBytes(path))) {
    if (line?.text.startsWith('{"type":"')) return;
    throw new Error(notOverwritten(target, "a dataset"));
  }
}
