/**
 * One process and several on one port, in turns: `bun run bench processes`. On a machine of two cores wrk
 * takes a good part of them, so the processor time of a request and how evenly the processes are at work
 * say more than the requests a second.
 */
import { readFileSync } from "node:fs";
import { createRandom } from "../../src/community/random.ts";
import { openExecutable } from "../../test/support.ts";
import { alternate, median } from "./measure.ts";
import { buildSnapshot, createDraw, searchPath, sizeOf } from "./server.ts";
import { load, luaList } from "./wrk.ts";

const ROUNDS = 5;
const SECONDS = 3;
const CONNECTIONS = 64;
/** Of Linux, in all its builds. */
const TICKS_PER_SECOND = 100;

/** Requests drawn from a community of that size, by kind. */
function drawLoads(users: number): Record<string, string[]> {
  const random = createRandom(users);
  const draw = createDraw(users, random);
  const sample = Array.from({ length: 20_000 }, draw);
  const typed = sample.map(({ name }) =>
    [...name]
      .slice(0, 2 + random.below(6))
      .join("")
      .trim(),
  );
  return {
    "profiles of anyone": sample.map(({ id }) => `/users/public/${id}`),
    "names as they are typed": typed.filter((text) => text.length > 1).map(searchPath),
  };
}

interface Measured {
  perSecond: number;
  /** Processor time of all processes for a request. */
  microseconds: number;
  /** The part of it that the busiest process has. */
  busiest: number;
}

/** `bun run bench processes [--size 100k|1M|10M]` */
export async function benchProcesses(args: string[]): Promise<void> {
  const { users } = sizeOf(args, "100k");
  const path = await buildSnapshot(users);
  const head = ["requests a second", "processor time of a request, µs", "share of the busiest"];
  console.log(`| ${CONNECTIONS} connections | processes | ${head.join(" | ")} |`);
  console.log("| --- | --: | --: | --: | --: |");
  for (const [name, paths] of Object.entries(drawLoads(users))) {
    const script = `local paths = ${luaList(paths)}
      request = function() return wrk.format("GET", paths[math.random(#paths)]) end`;
    const results = await alternate(ROUNDS, { "1": 1, "2": 2 }, (count) =>
      measure(path, count, script),
    );
    for (const count of ["1", "2"]) {
      const figure = (key: keyof Measured) => median(results(count).map((one) => one[key]));
      const cells = [Math.round(figure("perSecond")), figure("microseconds").toFixed(1)];
      const share = `${Math.round(100 * figure("busiest"))} %`;
      console.log(`| ${name} | ${count} | ${cells.join(" | ")} | ${share} |`);
    }
  }
}

async function measure(snapshot: string, count: number, script: string): Promise<Measured> {
  const flags = ["--snapshot", snapshot, "--reuse-port", "--search-limit", "0"];
  const first = await openExecutable([...flags, "--log-level", "fatal"]);
  const { origin } = first;
  const processes = [first];
  while (processes.length < count) {
    processes.push(await openExecutable([...flags, "--port", new URL(origin).port]));
  }
  const before = processes.map(({ pid }) => processorSeconds(pid));
  const { requestsPerSecond } = await load({
    origin,
    script,
    connections: CONNECTIONS,
    seconds: SECONDS,
  });
  const used = processes.map(({ pid }, at) => processorSeconds(pid) - (before[at] ?? 0));
  const all = used.reduce((sum, one) => sum + one, 0);
  for (const one of processes) await one.close();
  return {
    perSecond: requestsPerSecond,
    microseconds: (all / (requestsPerSecond * SECONDS)) * 1e6,
    busiest: Math.max(...used) / all,
  };
}

function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
