/** Requests a second of one process and of several on one port, in turns: `bun run bench processes`. */
import { openExecutable } from "../../test/support.ts";
import { buildSnapshot } from "./server.ts";
import { load } from "./wrk.ts";

const ROUNDS = 7;
const SECONDS = 3;
const CONNECTIONS = 64;

const loads: Record<string, string> = {
  "a profile": `request = function() return wrk.format("GET", "/users/public/42") end`,
  // Two parts of words that rarely meet: nearly all the time is the server's, and little is cached.
  "a search for two words": `
    local letters = "aeiounrstlmkdbgh"
    local function one() local at = math.random(#letters) return letters:sub(at, at) end
    request = function()
      return wrk.format("GET", "/search/users?q=" .. one() .. one() .. "%20" .. one() .. one())
    end`,
};

export async function benchProcesses(): Promise<void> {
  const { path } = await buildSnapshot(1e5);
  console.log(`| ${CONNECTIONS} connections, requests a second | 1 process | 2 processes |`);
  console.log("| --- | --: | --: |");
  for (const [name, script] of Object.entries(loads)) {
    const results: Record<number, number[]> = { 1: [], 2: [] };
    for (let round = 0; round < ROUNDS; round++) {
      for (const count of [1, 2]) results[count]?.push(await measure(path, count, script));
    }
    const cells = Object.values(results).map((rates) => Math.round(medianOf(rates)));
    console.log(`| ${name} | ${cells.join(" | ")} |`);
  }
}

async function measure(snapshot: string, count: number, script: string): Promise<number> {
  const flags = ["--snapshot", snapshot, "--reuse-port", "--search-limit", "0"];
  const first = await openExecutable([...flags, "--log-level", "fatal"]);
  const { origin } = first;
  const processes = [first];
  while (processes.length < count) {
    processes.push(await openExecutable([...flags, "--port", new URL(origin).port]));
  }
  const { requestsPerSecond } = await load({
    origin,
    script,
    connections: CONNECTIONS,
    seconds: SECONDS,
  });
  for (const one of processes) await one.close();
  return requestsPerSecond;
}

function medianOf(values: number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN;
}
