/** Asks a running server for its health, for `roadbook health` and for `--confirm`. */
import { open } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { networkReasonOf, reasonOf } from "../files/errors.ts";
import type { HealthBody } from "../http/health.ts";
import { writeStdout } from "./output.ts";

const NOT_SERVED = "the server does not serve the newest snapshot, which ";

type Server = { url: string | undefined; host: string; port: number };

/** Without `url`, checks a server on this machine that serves http. */
export async function runHealth({ url, host, port }: Server): Promise<void> {
  const local = `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const health = await fetchHealth(url ?? local);
  const reason = health.refused_replacement;
  if (reason) process.stderr.write(`roadbook: warning: ${NOT_SERVED}${reason}\n`);
  writeStdout(`${JSON.stringify(health)}\n`);
}

/** Waits until the server at `url` serves the file at `path`. Throws after `waitMs` or a signal. */
export async function confirmServed(path: string, url: string, waitMs: number): Promise<void> {
  let endMs = performance.now() + waitMs;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => (endMs = 0));
  for (;;) {
    const leftMs = Math.ceil(endMs - performance.now());
    const reason = await findDifference(path, url, Math.max(leftMs, 100)).catch(reasonOf);
    if (reason === undefined) return;
    const problem = `${path} was written, but not confirmed: ${reason}`;
    if (performance.now() >= endMs) throw new Error(problem);
    await sleep(100);
  }
}

/** Returns undefined if the server has the SHA-256 at the end of the file, whoever wrote it last. */
async function findDifference(path: string, url: string, waitMs: number) {
  const { snapshot, refused_replacement: reason } = await fetchHealth(url, Math.min(waitMs, 5000));
  await using file = await open(path);
  const { buffer } = await file.read(Buffer.alloc(64), 0, 64, (await file.stat()).size - 65);
  if (snapshot.sha256 === buffer.toString("latin1")) return undefined;
  return reason ? NOT_SERVED + reason : `the server serves a snapshot of ${snapshot.built_at}`;
}

export async function fetchHealth(base: string, timeoutMs = 5000): Promise<HealthBody> {
  const url = `${base}/health`;
  // A password in the URL is sent to the server but never printed.
  const shown = url.replace(/\/\/[^/]*@/, "//");
  const fail = (error: unknown) => {
    throw new Error(`no response from ${shown}: ${networkReasonOf(error, timeoutMs)}`);
  };
  const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) }).catch(fail);
  const body = (await response.text().catch(fail)).trim();
  if (response.status === 200 && body.startsWith('{"success":true')) return JSON.parse(body);
  const advice = base.endsWith("/health") ? "; leave /health out of the given URL" : "";
  throw new Error(`${shown} is not a healthy Roadbook (status ${response.status})${advice}`);
}
