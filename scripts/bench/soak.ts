/**
 * Owns the memory of the executable at half of its load for long: all that clients ask, by a hundred
 * thousand of them, with a changed snapshot and a look at the metrics every minute.
 * `bun run bench soak [--minutes 60]`.
 */
import { appendFileSync, copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createRandom } from "../../src/community/random.ts";
import { openExecutable, temporaryFolder } from "../../test/support.ts";
import { median } from "./measure.ts";
import { buildSnapshot, command, createDraw, megabytesOf } from "./server.ts";
import { load, luaList } from "./wrk.ts";

const USERS = 100_000;
const FULL_CONNECTIONS = 32;

export async function benchSoak(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { minutes: { type: "string", default: "60" } } });
  const folder = temporaryFolder();
  const at = (name: string) => join(folder, name);
  const [snapshot, changes] = [at("snapshot"), at("changes")];
  copyFileSync(await buildSnapshot(USERS), snapshot);
  const admin = Promise.withResolvers<string>();
  const server = await openExecutable(
    [
      ["--snapshot", snapshot, "--trusted-proxy", "127.0.0.1", "--admin-port", "0"],
      ["--search-window", "1m"],
    ].flat(),
    (text) => {
      appendFileSync(at("log"), text);
      const [, origin] = /admin listening on (http:[^"]+)/.exec(text) ?? [];
      if (origin) admin.resolve(origin);
    },
  );
  const metrics = `${await admin.promise}/metrics`;
  const { origin, pid } = server;
  const script = mixedRequests();
  const full = await load({ origin, script, connections: FULL_CONNECTIONS, seconds: 5 });
  console.log(`soak  full load: ${Math.round(full.requestsPerSecond)} requests/s`);

  const memory: number[] = [];
  // Each connection asks about once in a millisecond.
  let connections = Math.round(full.requestsPerSecond / 2 / 900);
  for (let minute = 1; minute <= Number(values.minutes); minute++) {
    const half = load({ origin, script: script + WAIT, connections, seconds: 58 });
    writeFileSync(changes, `{"type":"user","id":${minute},"public":false}\n`);
    await command("apply", changes, "--to", snapshot);
    await (await fetch(metrics)).text();
    const { requestsPerSecond, lost } = await half;
    connections = Math.max(
      1,
      Math.round((connections * full.requestsPerSecond) / 2 / requestsPerSecond),
    );
    memory.push(megabytesOf(pid, "RssAnon"));
    console.log(
      `soak  minute ${minute}: ${memory.at(-1)?.toFixed(1)} MB of its own memory,`,
      `${Math.round(requestsPerSecond)} requests/s, ${lost} lost`,
    );
  }
  const third = Math.ceil(memory.length / 3);
  console.log(
    `soak  median of each third: ${[0, 1, 2]
      .map((at) => median(memory.slice(at * third, (at + 1) * third)).toFixed(1))
      .join(", ")} MB`,
  );
  await server.close();
}

/** A millisecond between an answer and the next request of a connection. */
const WAIT = "\ndelay = function() return 1 end\n";

/** Half profiles, a quarter achievements, a quarter searches; some compressed, some unknown. */
function mixedRequests(): string {
  const draw = createDraw(USERS, createRandom(1));
  const queries = Array.from({ length: 3000 }, (_, id) =>
    encodeURIComponent([...draw().name].slice(0, 2 + (id % 4)).join("")),
  );
  return `
    local queries = ${luaList(queries)}
    local codings = { "zstd", "br", "gzip, deflate", "identity" }
    request = function()
      local headers = { ["X-Forwarded-For"] = "10." .. math.random(0, 9) .. "." .. math.random(0, 99) .. "." .. math.random(0, 99) }
      if math.random(4) == 1 then headers["Accept-Encoding"] = codings[math.random(#codings)] end
      local kind = math.random(8)
      local id = math.random(${USERS + 1000})
      if kind <= 4 then return wrk.format("GET", "/users/public/" .. id, headers) end
      if kind <= 6 then return wrk.format("GET", "/users/" .. id .. "/achievements", headers) end
      local names = kind == 7 and "users" or "companies"
      return wrk.format("GET", "/api/search/" .. names .. "?q=" .. queries[math.random(#queries)], headers)
    end`;
}
