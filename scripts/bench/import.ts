/**
 * Measures the time, memory and disk space that the executable takes to import, apply, check and
 * export, and to import tables. Also measures building the rivals' database and PostgreSQL's index
 * for the same users.
 */
import { once } from "node:events";
import { createWriteStream, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { crc32 } from "node:zlib";
import { Random } from "../../src/domain/random.ts";
import { fold } from "../../src/search/fold.ts";
import { BLOCK_BYTES } from "../../src/snapshot/format/layout.ts";
import { executable, temporaryFolder } from "../../test/support.ts";
import { alternate, format, formatRounds, type Options, tableOf, timed } from "./measure.ts";
import { openPostgres } from "./rivals/postgres.ts";
import { makeTables } from "./rivals/tables.ts";
import { generateLines, runCommand, runProgram, writeDataset } from "./server.ts";
import { benchTables } from "./tables.ts";

const ROUNDS = 3;
const CHANGES = 1000;

/** The memory bound from scripts/deploy/README.md: fixed, per name, and per byte of names. */
const BOUND = { megabytes: 200, perName: 250, perByte: 20 };

/**
 * Names that are hard to index. In each set, the names share only their first byte, have nothing in
 * common, or are nearly identical.
 */
const hardNames: Record<
  string,
  { count: number; name: (random: Random, index: number) => string }
> = {
  "random four-byte characters": {
    count: 100_000,
    name: ({ below }) =>
      String.fromCodePoint(...Array.from({ length: 200 }, () => 0x20000 + below(40_000))),
  },
  "random letters": {
    count: 200_000,
    name: ({ below }) => String.fromCharCode(...Array.from({ length: 200 }, () => 97 + below(26))),
  },
  "repeated letters": { count: 100_000, name: (_, index) => "a".repeat(190) + index },
};

export async function benchImport({ users, isQuick, beside }: Options): Promise<void> {
  const folder = temporaryFolder();
  const at = (name: string) => join(folder, name);
  await writeDataset(users, at("dataset"));
  const steps = {
    ...stepsOf(await executable(), "", folder),
    ...(beside === undefined ? {} : stepsOf(beside, ", beside", folder)),
  };
  for (const [name, step] of Object.entries(steps)) if (name.startsWith("import")) await step();
  const results = await alternate(isQuick ? 1 : ROUNDS, steps, (step) => step());
  const rows = Object.keys(steps).map((name) => [
    name,
    ...(["seconds", "processorSeconds", "peakMegabytes", "megabytes", "changed"] as const).map(
      (figure) => formatRounds(results(name).flatMap((result) => result[figure] ?? [])),
    ),
  ]);

  const generateMs = await timed(() => generateLines(users).forEach(() => {}));
  const tablesMs = await timed(() => makeTables(at("tables"), generateLines(users)));
  const tablesMegabytes = statSync(at("tables")).size / 1e6;
  rows.push([
    "SQLite tables with keys, for `LIKE`",
    formatRounds([(tablesMs - generateMs) / 1000]),
    "",
    "",
    formatRounds([tablesMegabytes]),
    "",
  ]);
  const postgres = await openPostgres(at(SNAPSHOT));
  if (postgres) {
    const seconds = formatRounds([postgres.buildMs / 1000]);
    rows.push(["PostgreSQL, names only, pg_trgm", seconds, "", "", "", ""]);
    await postgres.close();
  } else console.error("PostgreSQL is skipped: it is not installed");
  const figures = ["seconds:", "processor seconds:", "peak, MB:", "file, MB:", "changed, MB:"];
  console.log(tableOf(["", ...figures], rows));
  await benchTables(folder, isQuick);
  await importHardNames(folder, isQuick);
  rmSync(folder, { recursive: true });
}

const SNAPSHOT = "snapshot";

interface Step {
  seconds: number;
  processorSeconds: number;
  peakMegabytes: number;
  /** The size of the file, if the step makes one. */
  megabytes?: number;
  /** The size of the blocks that a change changes, which is what a replica downloads. */
  changed?: number;
}

/** What the executable `program` is measured with. `ending` ends the titles and the file names. */
function stepsOf(program: string, ending: string, folder: string) {
  const snapshot = join(folder, SNAPSHOT + ending);
  const run = (...args: string[]): Promise<Step> => runProgram(program, ...args);
  let nextId = 1;
  const apply = async (count: number): Promise<Step> => {
    const lines = Array.from(
      { length: count },
      () => `{"type":"user","id":${nextId++},"public":false}\n`,
    );
    writeFileSync(`${snapshot}.changes`, lines.join(""));
    const before = hashBlocks(snapshot);
    const step = await run("apply", `${snapshot}.changes`, "--to", snapshot, "--allow-shrink");
    const after = hashBlocks(snapshot);
    const changed = after.filter((hash, block) => hash !== before[block]).length;
    return { ...step, changed: (changed * BLOCK_BYTES) / 1e6 };
  };
  return {
    [`import${ending}`]: async (): Promise<Step> => {
      const step = await run("import", join(folder, "dataset"), "--to", snapshot);
      return { ...step, megabytes: statSync(snapshot).size / 1e6 };
    },
    [`apply, one user goes private${ending}`]: () => apply(1),
    [`apply, a thousand users go private${ending}`]: () => apply(CHANGES),
    [`check${ending}`]: () => run("check", snapshot),
    [`export${ending}`]: () => run("export", snapshot, "--to", `${snapshot}.export`),
  };
}

function hashBlocks(path: string): number[] {
  const bytes = readFileSync(path);
  return Array.from({ length: Math.ceil(bytes.length / BLOCK_BYTES) }, (_, block) =>
    crc32(bytes.subarray(block * BLOCK_BYTES, (block + 1) * BLOCK_BYTES)),
  );
}

/** Prints the peak memory use while importing the hard names, next to the documented bound. */
async function importHardNames(folder: string, isQuick: boolean): Promise<void> {
  const dataset = join(folder, "hard");
  const snapshot = join(folder, "hard.snapshot");
  const rows: string[][] = [];
  for (const [title, { count: all, name }] of Object.entries(hardNames)) {
    const count = isQuick ? all / 100 : all;
    const random = new Random(1);
    const writer = createWriteStream(dataset);
    let bytes = 0;
    for (let index = 0; index < count; index++) {
      const user = { id: index + 1, public: true, name: name(random, index) };
      bytes += Buffer.byteLength(fold(user.name));
      const line = { type: "user", ...user, created_at: "2020-01-01T00:00:00Z" };
      if (!writer.write(`${JSON.stringify(line)}\n`)) await once(writer, "drain");
    }
    await finished(writer.end());
    const { megabytes, perName, perByte } = BOUND;
    const { peakMegabytes } = await runCommand(
      "import",
      dataset,
      "--to",
      snapshot,
      "--allow-shrink",
    );
    const bound = megabytes + (perName * count + perByte * bytes) / 1e6;
    rows.push([`${count} names of about 200 ${title}`, format(peakMegabytes), format(bound)]);
  }
  console.log(`\n${tableOf(["", "peak, MB:", "documented bound, MB:"], rows)}`);
}
