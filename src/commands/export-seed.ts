/** `roadbook export` and `roadbook seed` write a dataset: to standard output, a file or tables. */
import { existsSync, mkdirSync, statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { type CommunityOptions, seedDataset } from "../community/community.ts";
import { withEndLine } from "../domain/dataset.ts";
import { UsageError } from "../domain/invalid-value.ts";
import { recordTypes } from "../domain/records.ts";
import { parseObject } from "../domain/validate-record.ts";
import { naming } from "../files/errors.ts";
import { readFileBytes } from "../files/input.ts";
import { STANDARD } from "../files/input-kind.ts";
import { readLines } from "../files/lines.ts";
import { type Paths, replaceFile } from "../files/replace.ts";
import { notOverwritten } from "../import/target.ts";
import { declare } from "../settings/setting.ts";
import * as types from "../settings/value-types.ts";
import { exportDataset } from "../snapshot/format/records.ts";
import { tableNames } from "../tables/columns.ts";
import { toCsv } from "../tables/write-csv.ts";
import { command, snapshotFile } from "./command.ts";
import { endOnSignal, writeStdout } from "./terminal.ts";

const USERS_PER_COMPANY = 25;

const outputFlags = {
  to: { type: types.output, help: "the file to write; - for standard output (the default)" },
  force: { type: types.boolean, help: "overwrite the target even if it is not a dataset" },
};

export const exportCommand = command({
  settings: declare("Flags", { file: snapshotFile, ...outputFlags }),
  examples: [
    "export community.snapshot --to backup.ndjson",
    "export community.snapshot | gzip > backup.ndjson.gz",
  ],
  async run({ file, to, force }) {
    using lines = await exportDataset(file);
    await writeLines(lines, to, force);
  },
});

export const seedCommand = command({
  settings: declare("Flags", {
    users: { type: types.integer(0, 100_000_000), required: true, help: "how many users" },
    companies: {
      type: types.integer(0, 50_000_000),
      help: `how many (default: 1 per ${USERS_PER_COMPANY} users)`,
    },
    seed: { type: types.seed, default: "1", help: "the same numbers give the same dataset" },
    tables: { type: types.text("FOLDER"), help: "write CSV files, as import reads them" },
    ...outputFlags,
  }),
  examples: [
    "seed --users 100 --tables sample-tables",
    "seed --users 3000 --to dataset.ndjson",
    "seed --users 10000 --seed 7 | roadbook import - --to large.snapshot",
  ],
  async run({ users, companies = Math.ceil(users / USERS_PER_COMPANY), seed, tables, to, force }) {
    const options = { users, companies, seed };
    if (tables === undefined) {
      const lines = seedDataset(options).map((line) => JSON.stringify(line));
      return writeLines(withEndLine(lines), to, force);
    }
    if (to !== undefined) throw new UsageError("--to and --tables are mutually exclusive");
    await writeTables(tables, force, options);
  },
});

async function writeLines(lines: Iterable<string>, to = STANDARD, force: boolean): Promise<void> {
  if (to === STANDARD) {
    for await (const chunk of chunksOf(lines)) {
      if (!writeStdout(chunk)) return;
    }
    return;
  }
  const write = async (paths: Paths) => {
    if (!force && existsSync(paths.current)) await refuseForeign(paths.current, to);
    await writeChunks(paths, lines);
  };
  using ending = endOnSignal();
  await replaceFile(to, write, { isLocked: false, onCommit: ending.onCommit });
}

/** Generates the community again for each table, so that memory does not grow with its size. */
async function writeTables(folder: string, force: boolean, options: CommunityOptions) {
  const files = tableNames.map((table) => ({ table, path: join(folder, `${table}.csv`) }));
  const taken = naming(folder, "write", () => {
    mkdirSync(folder, { recursive: true });
    return files.find(({ path }) => statSync(path, { throwIfNoEntry: false })?.size);
  });
  // Nobody can tell a generated table from one of the operator's.
  if (taken && !force) {
    throw new Error(`${taken.path} exists; choose another folder, or overwrite it with --force`);
  }
  using _ending = endOnSignal({ left: `${folder} is incomplete` });
  for (const { table, path } of files) {
    const write = (paths: Paths) => writeChunks(paths, toCsv(table, seedDataset(options)));
    await replaceFile(path, write, { isLocked: false });
  }
}

async function writeChunks({ next }: Paths, lines: Iterable<string>): Promise<void> {
  await writeFile(next, chunksOf(lines));
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

/** Throws unless the file at `path` is blank or begins with a line of a dataset. The error names `target`. */
async function refuseForeign(path: string, target: string): Promise<void> {
  for await (const [line] of readLines(readFileBytes(path))) {
    if (line && isDatasetLine(line.text)) return;
    throw new Error(notOverwritten(target, "a dataset"));
  }
}

/** Whether a line has a known type. It need not be valid otherwise. */
function isDatasetLine(text: string): boolean {
  const record = parseObject(text);
  if (Array.isArray(record)) return false;
  return ["ids", "end", ...recordTypes].some((type) => type === record.type);
}
