/**
 * Owns the share of a bare `Bun.serve` that each endpoint reaches in the executable with the limit,
 * the metrics and every header on: requests a second, turn about, median of the rounds. Needs wrk.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openExecutable, readyOrigin, type Target, temporaryFolder } from "../../test/support.ts";
import { load, luaList } from "./wrk.ts";

const ROUNDS = 5;
const SECONDS = 2;
const CONNECTIONS = 16;
const PATHS = 200;

export async function benchHttp(): Promise<void> {
  const roadbook = await openExecutable(
    "--search-limit 1000000 --search-window 1s --admin-port 0".split(" "),
  );
  for (const [name, paths] of Object.entries(await samplePaths(roadbook))) {
    const { body, bytes } = await medianBody(roadbook, paths);
    const bare = await openBare(body);
    for (const asked of ["again", "new"] as const) {
      const shares: number[] = [];
      let last = 0;
      for (let round = 0; round < ROUNDS; round++) {
        const most = await requestsPerSecond(bare.origin, paths, asked);
        last = await requestsPerSecond(roadbook.origin, paths, asked);
        shares.push(last / most);
      }
      shares.sort((one, other) => one - other);
      const [least, median, most] = [0, ROUNDS >> 1, ROUNDS - 1].map((at) =>
        shares[at]?.toFixed(2),
      );
      console.log(
        `http  ${name}, ${asked === "again" ? "asked before" : "never asked before"}:`,
        `${median} of a bare Bun.serve (${least}–${most}), ${Math.round(last)} requests/s of ${bytes} bytes`,
      );
    }
    bare.close();
  }
  await roadbook.close();
}

/** What is asked of each endpoint: users of the demo, and pairs of letters that begin their names. */
async function samplePaths(target: Target): Promise<Record<string, string[]>> {
  const ids: number[] = [];
  const starts = new Set<string>();
  for (let id = 1; ids.length < PATHS; id++) {
    const response = await target.fetch(`/users/public/${id}`);
    const { user } = (await response.json()) as { user?: { name: string } };
    if (!user) continue;
    ids.push(id);
    starts.add([...user.name].slice(0, 2).join(""));
  }
  const queries = [...starts].map(encodeURIComponent);
  return {
    profile: ids.map((id) => `/users/public/${id}`),
    "profile 42": ["/users/public/42"],
    achievements: ids.map((id) => `/users/${id}/achievements`),
    "achievements of 42": ["/users/42/achievements"],
    "search users, 2 characters": queries.map((q) => `/search/users?q=${q}`),
    "search companies, 2 characters": queries.map((q) => `/search/companies?q=${q}`),
  };
}

async function medianBody(target: Target, paths: string[]) {
  const bodies = await Promise.all(paths.map(async (path) => (await target.fetch(path)).text()));
  const body = bodies.sort((one, other) => one.length - other.length)[paths.length >> 1] ?? "";
  return { body, bytes: Buffer.byteLength(body) };
}

async function openBare(body: string) {
  const file = join(temporaryFolder(), "body");
  writeFileSync(file, body);
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "bare.ts"), file], {
    stdout: "pipe",
  });
  return { origin: await readyOrigin(child.stdout), close: () => child.kill() };
}

/** Asks for the paths in turn; one never asked before has a number behind it that no other has. */
async function requestsPerSecond(origin: string, paths: string[], asked: "again" | "new") {
  const separator = paths[0]?.includes("?") ? "&n=" : "?n=";
  const number = asked === "new" ? `.. "${separator}${started++}-" .. n` : "";
  const script = `
    local paths, n = ${luaList(paths)}, 0
    request = function()
      n = n + 1
      return wrk.format("GET", paths[n % #paths + 1] ${number})
    end`;
  const result = await load({ origin, script, connections: CONNECTIONS, seconds: SECONDS });
  if (result.refused + result.lost > 0) throw new Error(JSON.stringify(result));
  return result.requestsPerSecond;
}

let started = 0;
