/**
 * Owns how many requests a second each endpoint of the executable responds to, with the limit, the
 * metrics and every header on, beside a bare `Bun.serve` that sends the same bytes and headers and
 * beside what people write instead; also by processor time of the server's main thread, which other
 * programs on the machine disturb less. Random users of a large snapshot. Needs wrk.
 */
import { readFileSync } from "node:fs";
import { alternate, compare, notInstalled, type Row } from "./measure.ts";
import {
  BARE,
  buildSnapshot,
  drawRequests,
  NODE,
  openBare,
  openRivals,
  openRoadbook,
  type Requests,
  type Server,
  sizeOf,
} from "./server.ts";
import { load, luaList } from "./wrk.ts";

const ROUNDS = 5;
const SECONDS = 2;
const CONNECTIONS = 16;
const FLAGS = "--search-limit 100000 --search-window 1s --admin-port 0".split(" ");

/** `bun run bench http [--size 1M]` */
export async function* benchHttp(args: string[]): AsyncGenerator<Row> {
  const { users } = sizeOf(args, "1M");
  if (!Bun.which("wrk")) return yield notInstalled("every endpoint", BARE, "wrk");
  const snapshot = await buildSnapshot(users);
  const ours = await openRoadbook(["--snapshot", snapshot, ...FLAGS]);
  const rivals = await openRivals(users);
  const { profile, achievements, twoCharacters, fiveCharacters } = drawRequests(users);
  const cases: Record<string, Requests> = {
    profile,
    achievements,
    // The rivals know no ETag.
    "profile, 304": { ...profile, headers: { "If-None-Match": "*" } },
    "search, 2 characters": twoCharacters,
    "search, 5 characters": fiveCharacters,
  };
  for (const [name, requests] of Object.entries(cases)) {
    const bare = await openBare(ours, requests);
    const servers = { ours, [BARE]: bare, ...(requests.headers ? {} : rivals) };
    const results = await alternate(
      ROUNDS,
      servers,
      (server) => server && measure(server, requests),
    );
    for (const [beside, server] of Object.entries(servers).slice(1)) {
      if (!server) {
        yield notInstalled(name, beside, NODE);
        continue;
      }
      const figures = (figure: "perSecond" | "microseconds") => ({
        beside,
        ours: results("ours").map((result) => result?.[figure] ?? Number.NaN),
        theirs: results(beside).map((result) => result?.[figure] ?? Number.NaN),
      });
      const rates = figures("perSecond");
      yield compare({ name, unit: "requests/s", as: "rate", headline: true, ...rates });
      if (server !== bare) continue;
      const costs = figures("microseconds");
      yield compare({ name: `${name}, processor time`, unit: "µs", as: "time", ...costs });
    }
    await bare.close();
  }
}

async function measure({ origin, pid }: Server, { paths, headers = {} }: Requests) {
  const fields = Object.entries(headers).map(([name, value]) => `["${name}"] = "${value}"`);
  const script = `
    local paths, headers = ${luaList(paths)}, { ${fields.join()} }
    request = function()
      return wrk.format("GET", paths[math.random(#paths)], headers)
    end`;
  const before = mainThreadSeconds(pid);
  const result = await load({ origin, script, connections: CONNECTIONS, seconds: SECONDS });
  const spent = mainThreadSeconds(pid) - before;
  if (result.refused > 0) throw new Error(JSON.stringify(result));
  const perSecond = result.requestsPerSecond;
  return { perSecond, microseconds: (spent * 1e6) / (perSecond * SECONDS) };
}

/** Processor time of a process's first thread, which counts in hundredths of a second on Linux. */
function mainThreadSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/task/${pid}/stat`, "utf8");
  const [user, system] = stat.slice(stat.lastIndexOf(")")).split(" ").slice(12, 14);
  return (Number(user) + Number(system)) / 100;
}
