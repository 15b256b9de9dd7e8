/**
 * One process and several on one port, in turns: `bun run bench processes`. On a machine of two cores wrk
 * takes a good part of them, so the processor time of a request and how evenly the processes are at work
 * say more than the requests a second.
 */
import { createRandom } from "../../src/community/random.ts";
import { openExecutable } from "../../test/support.ts";
import { alternate, median } from "./measure.ts";
import { tableOf } from "./report.ts";
import { buildSnapshot, createDraw, processorSecondsOf, searchPath, sizeOf } from "./server.ts";
import { load, randomRequests } from "./wrk.ts";

const ROUNDS = 5;
const SECONDS = 3;
const CONNECTIONS = 64;

/** Requests drawn from a community of that size, by kind. */
function drawPaths(users: number): Record<string, string[]> {
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

/** `bun run bench processes [--size 100k|1M|10M]` */
export async function benchProcesses(args: string[]): Promise<void> {
  const { users } = sizeOf(args, "100k");
  const path = await buildSnapshot(users);
  const rows: string[][] = [];
  for (const [name, paths] of Object.entries(drawPaths(users))) {
    const script = randomRequests({ paths });
    const results = await alternate(ROUNDS, { "1": 1, "2": 2 }, (count) =>
      measure(path, count, script),
    );
    for (const count of ["1", "2"]) {
      const figure = (key: keyof Measured) => median(results(count).map((one) => one[key]));
      const microseconds = figure("microseconds").toFixed(1);
      const share = `${Math.round(100 * figure("busiest"))} %`;
      rows.push([name, count, `${Math.round(figure("perSecond"))}`, microseconds, share]);
    }
  }
  const figures = [
    "requests a second:",
    "processor time of a request, µs:",
    "share of the busiest:",
  ];
  console.log(tableOf([`${CONNECTIONS} connections`, "processes:", ...figures], rows));
}

type Measured = Awaited<ReturnType<typeof measure>>;

/** Of a request the processor time of all processes, and the part of it that the busiest has. */
async function measure(snapshot: string, count: number, script: string) {
  const flags = ["--snapshot", snapshot, "--reuse-port", "--search-limit", "0"];
  const first = await openExecutable([...flags, "--log-level", "fatal"]);
  const { origin } = first;
  const processes = [first];
  while (processes.length < count) {
    processes.push(await openExecutable([...flags, "--port", new URL(origin).port]));
  }
  const spent = () => processes.map(({ pid }) => processorSecondsOf(pid, "process"));
  const before = spent();
  const rate = await load({ origin, script, connections: CONNECTIONS, seconds: SECONDS });
  const used = spent().map((seconds, at) => seconds - (before[at] ?? 0));
  const all = used.reduce((sum, one) => sum + one, 0);
  for (const one of processes) await one.close();
  return {
    perSecond: rate.requestsPerSecond,
    microseconds: (all / (rate.requestsPerSecond * SECONDS)) * 1e6,
    busiest: Math.max(...used) / all,
  };
}
