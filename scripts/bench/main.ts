/** `bun run bench NAME` runs a benchmark and prints its results. No result counts as a failure. */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { benchAdversary } from "./adversary.ts";
import { benchGrowth } from "./growth.ts";
import { benchHostile } from "./hostile.ts";
import { benchHttp } from "./http.ts";
import { benchImport } from "./import.ts";
import { describeRun, type Options } from "./measure.ts";
import { benchNames } from "./names.ts";
import { benchSearch } from "./search.ts";
import { closeAll, sizes } from "./server.ts";
import { benchSoak } from "./soak.ts";
import { benchStart } from "./start.ts";
import { benchTakedown } from "./takedown.ts";

const benches: Record<string, { run: (options: Options) => Promise<void>; summary: string }> = {
  http: { run: benchHttp, summary: "processor time per request (needs wrk)" },
  search: { run: benchSearch, summary: "response time of each kind of query" },
  start: { run: benchStart, summary: "time until servers are ready and commands end" },
  import: { run: benchImport, summary: "time and memory of import, apply, check and export" },
  growth: { run: benchGrowth, summary: "growth from 10k users to --size" },
  adversary: { run: benchAdversary, summary: "slow queries on contrived names; dear requests" },
  names: { run: benchNames, summary: "names found as people type them" },
  takedown: { run: benchTakedown, summary: "time and bytes until three replicas hide a user" },
  hostile: { run: benchHostile, summary: "how long a client waits beside attackers" },
  soak: { run: benchSoak, summary: "growth of memory, files and response times over --hours" },
};

const sizeNames = Object.keys(sizes);
const usage = `usage: bun run bench NAME [--size ${sizeNames.join("|")}] [--quick] [--hours N] [--beside FILE]

${Object.entries(benches)
  .map(([name, { summary }]) => `  ${name.padEnd(10)} ${summary}`)
  .join("\n")}

  --size     number of users in the invented community (default 1M)
  --quick    1k users and one short round, to check that the bench works
  --hours    how long a soak lasts, such as 24 or 0.05 (default 1)
  --beside   another roadbook executable, measured in turn by http, search, start and import`;

process.exit(await main());

async function main(): Promise<number> {
  let bench: (typeof benches)[string] | undefined;
  let options: Options;
  try {
    const { values, positionals } = parseArgs({
      options: {
        size: { type: "string" },
        quick: { type: "boolean", default: false },
        hours: { type: "string", default: "1" },
        beside: { type: "string" },
        help: { type: "boolean", short: "h" },
      },
      allowPositionals: true,
    });
    if (values.help) {
      console.log(usage);
      return 0;
    }
    const name = positionals.join(" ");
    bench = Object.hasOwn(benches, name) ? benches[name] : undefined;
    if (!bench) throw new Error(`unknown bench "${name}"`);
    const size = values.size ?? (values.quick ? "1k" : "1M");
    const users = sizes[size];
    if (!users) throw new Error(`--size must be one of ${sizeNames.join(", ")}, got "${size}"`);
    const hours = values.quick ? 0.002 : Number(values.hours);
    const beside = values.beside && resolve(values.beside);
    options = { size, users, isQuick: values.quick, hours, beside };
  } catch (error) {
    console.error(`${(error as Error).message}\n${usage}`);
    return 2;
  }
  try {
    console.log(`${await describeRun()}\n`);
    await bench.run(options);
    return 0;
  } finally {
    await closeAll();
  }
}
