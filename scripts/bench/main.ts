/** `bun run bench NAME` measures one thing and prints a table of it. Judges nothing. */
import { parseArgs } from "node:util";
import { benchAdversary } from "./adversary.ts";
import { benchBadDays } from "./bad-days.ts";
import { benchGrowth } from "./growth.ts";
import { benchHostile } from "./hostile.ts";
import { benchHttp } from "./http.ts";
import { benchImport } from "./import.ts";
import { describeRun, type Options } from "./measure.ts";
import { benchSearch } from "./search.ts";
import { closeAll, sizes } from "./server.ts";
import { benchStart } from "./start.ts";

const benches: Record<string, { run: (options: Options) => Promise<void>; about: string }> = {
  http: { run: benchHttp, about: "requests per second and processor time per request (needs wrk)" },
  search: { run: benchSearch, about: "how long a client waits for each kind of query" },
  start: { run: benchStart, about: "from the start of the process to ready, and its memory" },
  import: { run: benchImport, about: "import, apply, check and export: time, memory, size" },
  growth: { run: benchGrowth, about: "10 thousand to 10 million users; draws the README's plot" },
  "bad-days": {
    run: benchBadDays,
    about: "killed writers, flipped bits, swaps under load, floods",
  },
  adversary: { run: benchAdversary, about: "searches for the ten most expensive queries" },
  hostile: {
    run: benchHostile,
    about: "the cost of long requests, the memory of unread responses",
  },
};

const usage = `usage: bun run bench NAME [--size ${Object.keys(sizes).join("|")}] [--seed N] [--quick]

${Object.entries(benches)
  .map(([name, { about }]) => `  ${name.padEnd(10)} ${about}`)
  .join("\n")}

  --size     number of users of the community (default 1M)
  --seed     seed of everything that is random (default 1)
  --quick    10k users and one short round, to see that the bench works`;

process.exit(await main());

async function main(): Promise<number> {
  let bench: (typeof benches)[string] | undefined;
  let options: Options;
  try {
    const { values, positionals } = parseArgs({
      options: {
        size: { type: "string" },
        seed: { type: "string", default: "1" },
        quick: { type: "boolean", default: false },
        help: { type: "boolean", short: "h" },
      },
      allowPositionals: true,
    });
    if (values.help) {
      console.log(usage);
      return 0;
    }
    const [name = "", ...others] = positionals;
    bench = Object.hasOwn(benches, name) ? benches[name] : undefined;
    if (!bench || others.length > 0)
      throw new Error(`no bench is named "${positionals.join(" ")}"`);
    const size = values.size ?? (values.quick ? "10k" : "1M");
    const users = sizes[size];
    if (!users) throw new Error(`--size must be one of ${Object.keys(sizes).join(", ")}`);
    options = { size, users, seed: Number(values.seed), isQuick: values.quick };
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
