/** `bun run bench WHAT`: measures, prints, judges nothing. */
import { climb } from "./adversary.ts";
import { benchBadDays } from "./bad-days.ts";
import { benchGrowth } from "./growth.ts";
import { benchHttp } from "./http.ts";
import { benchLimit } from "./limit.ts";
import { benchPage } from "./page.ts";
import { benchProcesses } from "./processes.ts";
import { benchSearch } from "./search.ts";
import { benchSnapshots } from "./snapshots.ts";
import { benchSoak } from "./soak.ts";

const benches: Record<string, (args: string[]) => Promise<void>> = {
  growth: benchGrowth,
  http: benchHttp,
  limit: benchLimit,
  page: benchPage,
  processes: benchProcesses,
  search: benchSearch,
  snapshots: benchSnapshots,
  soak: benchSoak,
  adversary: climb,
  "bad-days": benchBadDays,
};

const [name = "", ...args] = process.argv.slice(2);
const bench = Object.hasOwn(benches, name) ? benches[name] : undefined;
if (bench) await bench(args);
else console.error(`usage: bun run bench ${Object.keys(benches).join("|")}`);
process.exit(bench ? 0 : 2);
