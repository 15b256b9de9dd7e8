/**
 * Owns the share of a bare `Bun.serve` that each endpoint reaches in the executable with the limit,
 * the metrics and every header on. The bare server sends the same bytes and headers. Random users of
 * a large snapshot, turn about, median of the rounds: requests a second, and processor time of the
 * server's main thread a request, which other programs on the machine disturb less. Needs wrk.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createRandom } from "../../src/community/random.ts";
import { openExecutable, readyOrigin, type Target, temporaryFolder } from "../../test/support.ts";
import { buildSnapshot, createDraw, searchPath, usersOf } from "./server.ts";
import { load, luaList } from "./wrk.ts";

const ROUNDS = 5;
const SECONDS = 2;
const CONNECTIONS = 16;
/** So many that what is asked for is rarely in the processor's cache, or in SQLite's. */
const SAMPLE = 20_000;

interface Case {
  /** Asked for at random. */
  paths: string[];
  headers?: Record<string, string>;
}

export async function benchHttp(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { size: { type: "string", default: "1M" } } });
  const users = usersOf(values.size);
  const { path: snapshot } = await buildSnapshot(users);
  const flags = "--search-limit 100000 --search-window 1s --admin-port 0".split(" ");
  const roadbook = await openExecutable(["--snapshot", snapshot, ...flags]);
  for (const [name, measured] of Object.entries(listCases(users))) {
    const { bare, bytes } = await openBare(roadbook, measured);
    const speeds: number[] = [];
    const costs: number[] = [];
    let ours = { perSecond: 0, microseconds: 0 };
    for (let round = 0; round < ROUNDS; round++) {
      const limit = await measure(bare, measured);
      ours = await measure(roadbook, measured);
      speeds.push(ours.perSecond / limit.perSecond);
      costs.push(limit.microseconds / ours.microseconds);
    }
    console.log(
      `http  ${name}: of a bare Bun.serve ${spread(speeds)} by requests a second,`,
      `${spread(costs)} by processor time; last ${Math.round(ours.perSecond)} requests/s,`,
      `${ours.microseconds.toFixed(1)} µs, ${bytes} bytes`,
    );
    bare.close();
  }
  await roadbook.close();
}

/** The median, the least and the most. */
function spread(shares: number[]): string {
  const sorted = shares.toSorted((one, other) => one - other).map((share) => share.toFixed(2));
  return `${sorted[sorted.length >> 1]} (${sorted[0]}–${sorted.at(-1)})`;
}

function listCases(users: number): Record<string, Case> {
  const draw = createDraw(users, createRandom(1, 0));
  const sample = Array.from({ length: SAMPLE }, draw);
  const profile = { paths: sample.map(({ id }) => `/users/public/${id}`) };
  const starting = (count: number) => ({
    paths: sample
      .map(({ name }) => [...name].slice(0, count).join(""))
      .filter((start) => start.trim().length >= count)
      .map(searchPath),
  });
  return {
    profile,
    achievements: { paths: sample.map(({ id }) => `/users/${id}/achievements`) },
    "profile, 304": { ...profile, headers: { "If-None-Match": "*" } },
    "search users, 2 characters": starting(2),
    "search users, 5 characters": starting(5),
  };
}

/** A server that gives the median response of the paths, by its length, to whatever is asked. */
async function openBare(target: Target, { paths, headers = {} }: Case) {
  const responses = await Promise.all(
    paths.slice(0, 200).map(async (path) => {
      const response = await target.fetch(path, {
        headers: { "accept-encoding": "identity", ...headers },
      });
      const body = await response.text();
      const own = [...response.headers].filter(([name]) => !/^(date|content-length)$/.test(name));
      return { status: response.status, headers: own, body: body === "" ? null : body };
    }),
  );
  const lengthOf = ({ body }: { body: string | null }) => Buffer.byteLength(body ?? "");
  const median = responses.sort((one, other) => lengthOf(one) - lengthOf(other))[100];
  if (!median) throw new Error("too few paths");
  const file = join(temporaryFolder(), "response.json");
  writeFileSync(file, JSON.stringify(median));
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "bare.ts"), file], {
    stdout: "pipe",
  });
  const origin = await readyOrigin(child.stdout);
  const bare = { origin, pid: child.pid, close: () => child.kill() };
  return { bare, bytes: lengthOf(median) };
}

async function measure(
  { origin, pid }: { origin: string; pid: number },
  { paths, headers = {} }: Case,
) {
  const fields = Object.entries(headers).map(([name, value]) => `["${name}"] = "${value}"`);
  const script = `
    local paths, headers = ${luaList(paths)}, { ${fields.join()} }
    request = function()
      return wrk.format("GET", paths[math.random(#paths)], headers)
    end`;
  const before = mainThreadSeconds(pid);
  const result = await load({ origin, script, connections: CONNECTIONS, seconds: SECONDS });
  const spent = mainThreadSeconds(pid) - before;
  if (result.refused + result.lost > 0) throw new Error(JSON.stringify(result));
  const perSecond = result.requestsPerSecond;
  return { perSecond, microseconds: (spent * 1e6) / (perSecond * SECONDS) };
}

/** Processor time of a process's first thread, which counts in hundredths of a second on Linux. */
function mainThreadSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/task/${pid}/stat`, "utf8");
  const [user, system] = stat.slice(stat.lastIndexOf(")")).split(" ").slice(12, 14);
  return (Number(user) + Number(system)) / 100;
}
