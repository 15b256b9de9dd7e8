/** Runs wrk with a script of ours: one thread, as the server has the other core. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { run, temporaryFolder } from "../../test/support.ts";
import type { Requests } from "./server.ts";

export interface Load {
  origin: string;
  /** Lua that defines `request`, and `delay` if need be. */
  script: string;
  connections: number;
  seconds: number;
}

/** Throws where wrk is missing; lost are connections that broke, and answers that took two seconds. */
export async function load({ origin, script, connections, seconds }: Load) {
  if (!Bun.which("wrk")) throw new Error("wrk is not on the PATH (apt-get install wrk)");
  const file = join(temporaryFolder(), "load.lua");
  writeFileSync(file, script);
  const words = ["-t1", `-c${connections}`, `-d${seconds}s`, "-s", file, origin];
  const { code, stdout, stderr } = await run(["wrk", ...words]);
  const perSecond = Number(/Requests\/sec: +([\d.]+)/.exec(stdout)?.[1]);
  if (code !== 0 || Number.isNaN(perSecond)) throw new Error(`wrk: ${stdout}${stderr}`);
  const [, lost = ""] = /Socket errors: (.+)/.exec(stdout) ?? [];
  return {
    requestsPerSecond: perSecond,
    /** Responses that are neither 2xx nor 3xx. */
    refused: Number(/Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? 0),
    lost: (lost.match(/\d+/g) ?? []).reduce((sum, count) => sum + Number(count), 0),
  };
}

/** Asks for one of the paths at random, each time. */
export function randomRequests({ paths, headers = {} }: Requests): string {
  const fields = Object.entries(headers).map(([name, value]) => `["${name}"] = "${value}"`);
  return `
    local paths, headers = ${luaList(paths)}, { ${fields.join()} }
    request = function()
      return wrk.format("GET", paths[math.random(#paths)], headers)
    end`;
}

/** A list of texts as Lua has it. */
export function luaList(texts: string[]): string {
  return `{ ${texts.map((text) => JSON.stringify(text)).join(", ")} }`;
}
