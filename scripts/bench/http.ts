/**
 * Owns what a request costs: requests per second under full load, and processor time per request,
 * which other programs on the machine disturb less. The executable has its limit, its metrics and
 * all headers on; beside it run the floor and what people write instead. Random users of a large
 * snapshot. Needs wrk.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { run, temporaryFolder } from "../../test/support.ts";
import {
  alternate,
  format,
  formatRounds,
  median,
  type Options,
  processorSecondsOf,
  tableOf,
} from "./measure.ts";
import {
  buildSnapshot,
  drawPaths,
  FLOOR,
  OURS,
  openFloor,
  openRivals,
  openRoadbook,
  type Server,
} from "./server.ts";

const ROUNDS = 5;
const SECONDS = 2;
const CONNECTIONS = 32;
/**
 * For the rivals' searches: a scan takes 0.1 s, and Bun sends no response until all that wait are
 * done.
 */
const SCAN_CONNECTIONS = 2;
/** Counts as many searches of the one client here as the default limit does of any: a few tens. */
const FLAGS = "--search-limit 1000000 --search-window 10ms --admin-port 0".split(" ");

interface Load {
  /** One of them is asked for at random, each time. */
  paths: string[];
  /** Appends a parameter that is ignored, so that no URL is asked for twice. */
  isUnique?: boolean;
  /** The rivals know no ETag, so a 304 is measured beside the floor alone. */
  isConditional?: boolean;
}

export async function benchHttp({ users, isQuick }: Options): Promise<void> {
  if (!Bun.which("wrk")) throw new Error("wrk is not on the PATH (apt-get install wrk)");
  const { profiles, achievements, twoLetters, fiveLetters } = drawPaths(users);
  const loads: Record<string, Load> = {
    "profile, random ids": { paths: profiles },
    "profile, one URL": { paths: profiles.slice(0, 1) },
    "profile, random ids, 304": { paths: profiles, isConditional: true },
    "achievements, random ids": { paths: achievements },
    "search, two letters, URLs never repeat": { paths: twoLetters, isUnique: true },
    "search, two letters, URLs repeat": { paths: twoLetters },
    "search, five letters, URLs never repeat": { paths: fiveLetters, isUnique: true },
    "search, five letters, URLs repeat": { paths: fiveLetters },
  };
  const ours = await openRoadbook(["--snapshot", await buildSnapshot(users), ...FLAGS]);
  const floor = await openFloor(
    ours,
    Object.values(loads).flatMap(({ paths }) => paths),
  );
  const rivals = await openRivals(users);
  const rows: string[][] = [];
  for (const [name, load] of Object.entries(loads)) {
    const servers = { [OURS]: ours, [FLOOR]: floor, ...(load.isConditional ? {} : rivals) };
    const isSearch = load.paths[0]?.startsWith("/search");
    const results = await alternate(isQuick ? 1 : ROUNDS, servers, (server) => {
      const isScan = isSearch && server !== ours && server !== floor;
      const connections = isScan ? SCAN_CONNECTIONS : CONNECTIONS;
      return measure(server, load, connections, isQuick ? 1 : SECONDS);
    });
    const costs = (server: string) => results(server).map(({ microseconds }) => microseconds);
    const shares = costs(OURS).map((cost, round) => (costs(FLOOR)[round] ?? Number.NaN) / cost);
    for (const server of Object.keys(servers)) {
      const perSecond = format(median(results(server).map((result) => result.perSecond)));
      const share = server === OURS ? formatRounds(shares) : "";
      rows.push([name, server, formatRounds(costs(server)), perSecond, share]);
    }
  }
  const figures = ["µs of processor time:", "requests per second:", "floor ÷ Roadbook:"];
  console.log(tableOf(["request", "server", ...figures], rows));
}

let runs = 0;

async function measure({ origin, pid }: Server, load: Load, connections: number, seconds: number) {
  const file = join(temporaryFolder(), "load.lua");
  writeFileSync(file, scriptOf(load, runs++));
  const before = processorSecondsOf(pid);
  const words = ["-t1", `-c${connections}`, `-d${seconds}s`, "-s", file, origin];
  const { code, stdout, stderr } = await run(["wrk", ...words]);
  const spent = processorSecondsOf(pid) - before;
  const requests = Number(/(\d+) requests in/.exec(stdout)?.[1]);
  if (code !== 0 || !(requests > 0) || /Non-2xx or 3xx/.test(stdout))
    throw new Error(`wrk: ${stdout}${stderr}`);
  await untilIdle(pid);
  const perSecond = Number(/Requests\/sec: +([\d.]+)/.exec(stdout)?.[1]);
  return { perSecond, microseconds: (spent * 1e6) / requests };
}

/**
 * A slow server goes on with requests whose clients are gone, beside the next one that is measured.
 */
async function untilIdle(pid: number): Promise<void> {
  for (let before = -1; before < processorSecondsOf(pid); await Bun.sleep(100))
    before = processorSecondsOf(pid);
}

/** For wrk, in Lua. */
function scriptOf({ paths, isUnique, isConditional }: Load, run: number): string {
  return `
    local paths = { ${paths.map((path) => JSON.stringify(path)).join(", ")} }
    local headers = { ${isConditional ? `["If-None-Match"] = "*"` : ""} }
    local count = 0
    math.randomseed(${run + 1})
    request = function()
      local path = paths[math.random(#paths)]
      count = count + 1
      ${isUnique ? `path = path .. "&n=${run}-" .. count` : ""}
      return wrk.format("GET", path, headers)
    end`;
}
