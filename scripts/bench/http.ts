/**
 * Measures the processor time per request under full load, which depends less on other load on the
 * machine than requests per second do. The executable runs with the rate limit, metrics and all
 * headers. It is compared with the ordinary app and the floor, which rivals/ordinary.ts and
 * rivals/floor.ts define, and with typical implementations. Each request picks a random user of a large snapshot. Needs wrk.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { run, temporaryFolder } from "../../test/support.ts";
import { alternate, formatRounds, type Options, processorSecondsOf, tableOf } from "./measure.ts";
import {
  buildSnapshot,
  FLOOR,
  ORDINARY,
  openBeside,
  openFloor,
  openOrdinary,
  openRivals,
  openRoadbook,
  ROADBOOK,
  type Server,
  samplePaths,
} from "./server.ts";

/** Many short rounds, because other load on the machine comes and goes within seconds. */
const ROUNDS = 15;
const SECONDS = 1;
const CONNECTIONS = 32;
/**
 * The number of connections for the rivals' searches. A scan takes 0.1 s, and Bun sends no response
 * until all waiting requests are done.
 */
const SCAN_CONNECTIONS = 2;
/** The short window lets the limit track a few dozen searches per client, as it does by default. */
const FLAGS = "--search-limit 1000000 --search-window 10ms --admin-port 0".split(" ");

interface Load {
  /** Each request picks one of these paths at random. */
  paths: string[];
  /** Append an ignored parameter to each URL, so that no URL repeats. */
  isUnique?: boolean;
  /** Request a 304. The rivals send no ETag, and the ordinary app sends the whole response. */
  isConditional?: boolean;
  /** Request users that do not exist. */
  isMissing?: boolean;
}

export async function benchHttp(options: Options): Promise<void> {
  const { users, isQuick } = options;
  if (!Bun.which("wrk")) throw new Error("wrk is not on the PATH (apt-get install wrk)");
  const snapshot = await buildSnapshot(users);
  const { profiles, achievements, twoLetters, fiveLetters } = samplePaths(snapshot, users);
  const loads: Record<string, Load> = {
    "profile, random ids": { paths: profiles },
    "profile, random ids, 304": { paths: profiles, isConditional: true },
    "achievements, random ids": { paths: achievements },
    "users who do not exist": {
      paths: profiles.map((path) => `${path}${users}`),
      isMissing: true,
    },
    "search, two letters, URLs never repeat": { paths: twoLetters, isUnique: true },
    "search, five letters, URLs never repeat": { paths: fiveLetters, isUnique: true },
  };
  const roadbook = await openRoadbook(["--snapshot", snapshot, ...FLAGS]);
  const floor = await openFloor(
    roadbook,
    Object.values(loads).flatMap(({ paths }) => paths),
  );
  const own = { [ROADBOOK]: roadbook, ...(await openBeside(options, FLAGS)), [FLOOR]: floor };
  const ordinary = { [ORDINARY]: await openOrdinary(users) };
  const rivals = await openRivals(users);
  const names = [...Object.keys(own), ORDINARY, ...Object.keys(rivals)];
  const costRows: string[][] = [];
  for (const [name, load] of Object.entries(loads)) {
    const isSearch = load.paths[0]?.startsWith("/search");
    const servers: Record<string, Server> = {
      ...own,
      ...(!isSearch && ordinary),
      ...(!load.isConditional && !load.isMissing && rivals),
    };
    const results = await alternate(isQuick ? 1 : ROUNDS, servers, (server) => {
      const isScan = isSearch && Object.values(rivals).includes(server);
      const connections = isScan ? SCAN_CONNECTIONS : CONNECTIONS;
      return measure(server, load, connections);
    });
    const ratioTo = (other: string) =>
      formatRounds(results(other).map((cost, round) => (results(ROADBOOK)[round] ?? NaN) / cost));
    costRows.push([
      name,
      ...names.map((server) => formatRounds(results(server))),
      ratioTo(ORDINARY),
      ratioTo(FLOOR),
    ]);
  }
  const columns = names.map((server) => `${server}:`);
  console.log(
    tableOf(["µs of processor time", ...columns, `÷ ${ORDINARY}:`, `÷ ${FLOOR}:`], costRows),
  );
}

let runs = 0;

/** Returns the microseconds of processor time per request. */
async function measure({ origin, pid }: Server, load: Load, connections: number) {
  const file = join(temporaryFolder(), "load.lua");
  writeFileSync(file, createScript(load, runs++));
  const before = processorSecondsOf(pid);
  const args = ["-t1", `-c${connections}`, `-d${SECONDS}s`, "-s", file, origin];
  const { code, stdout, stderr } = await run(["wrk", ...args]);
  const spent = processorSecondsOf(pid) - before;
  const requests = Number(/(\d+) requests in/.exec(stdout)?.[1]);
  if (code !== 0 || !(requests > 0) || (!load.isMissing && /Non-2xx or 3xx/.test(stdout)))
    throw new Error(`wrk: ${stdout}${stderr}`);
  await untilIdle(pid);
  return (spent * 1e6) / requests;
}

/** A slow server keeps working for disconnected clients, which would slow the next measurement. */
async function untilIdle(pid: number): Promise<void> {
  for (let before = -1; before < processorSecondsOf(pid); await Bun.sleep(100))
    before = processorSecondsOf(pid);
}

/** Returns the Lua script that makes wrk send the requests. */
function createScript({ paths, isUnique, isConditional }: Load, run: number): string {
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
