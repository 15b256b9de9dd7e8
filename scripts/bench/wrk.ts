/** Runs wrk with a script of ours: one thread, as the server has the other core. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { run, temporaryFolder } from "../../test/support.ts";

export interface Load {
  origin: string;
  /** Lua that defines `request`, and `delay` if need be. */
  script: string;
  connections: number;
  seconds: number;
}

export interface LoadResult {
  requestsPerSecond: number;
  /** Responses that are neither 2xx nor 3xx. */
  refused: number;
  /** Connections that broke, and answers that did not come within two seconds. */
  lost: number;
}

/** Throws where wrk is missing. */
export async function load({ origin, script, connections, seconds }: Load): Promise<LoadResult> {
  if (!Bun.which("wrk")) throw new Error("wrk is not on the PATH (apt-get install wrk)");
  const file = join(temporaryFolder(), "load.lua");
  writeFileSync(file, script);
  const words = ["-t1", `-c${connections}`, `-d${seconds}s`, "-s", file, origin];
  const { code, stdout, stderr } = await run(["wrk", ...words]);
  const perSecond = Number(/Requests\/sec: +([\d.]+)/.exec(stdout)?.[1]);
  if (code !== 0 || Number.isNaN(perSecond)) throw new Error(`wrk: ${stdout}${stderr}`);
  const [, connect, read, write, timeout] =
    /connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(stdout) ?? [];
  return {
    requestsPerSecond: perSecond,
    refused: Number(/Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? 0),
    lost: [connect, read, write, timeout].reduce((sum, count = "0") => sum + Number(count), 0),
  };
}

/** A list of texts as Lua has it. */
export function luaList(texts: string[]): string {
  return `{ ${texts.map((text) => JSON.stringify(text)).join(", ")} }`;
}
