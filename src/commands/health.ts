/** Asks a running server for its health, for `roadbook health` and for `--confirm`. */
import { setTimeout as sleep } from "node:timers/promises";
import { networkReasonOf } from "../files/errors.ts";
import type { HealthBody } from "../http/health.ts";
import { readSha256 } from "../snapshot/format/file.ts";
import { writeStdout } from "./output.ts";

interface Server {
  url?: string | undefined;
  host: string;
  port: number;
  timeoutMs?: number;
}

const TIMEOUT_MS = 5000;
const CONFIRM_MS = 100;

/** Without `url`, checks a server on this machine that serves http. */
export async function runHealth({ url: base, host, port, timeoutMs = TIMEOUT_MS }: Server) {
  const url = base ?? `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const { body, health } = await fetchHealth(url, timeoutMs);
  const { refused_replacement: reason } = health;
  if (reason) process.stderr.write(`roadbook: warning: ${NOT_SERVED}, which ${reason}\n`);
  writeStdout(`${body}\n`);
}

const NOT_SERVED = "the server does not serve the newest snapshot";

/**
 * Waits until the server at `url` serves the snapshot at `path`, whoever wrote that last. Throws
 * after `waitMs`, or at a signal.
 */
export async function confirmServed(path: string, url: string, waitMs: number): Promise<void> {
  let endMs = performance.now() + waitMs;
  const giveUp = () => {
    endMs = 0;
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, giveUp);
  for (;;) {
    let reason: string;
    try {
      const { health } = await fetchHealth(url, Math.min(TIMEOUT_MS, waitMs));
      const { snapshot, refused_replacement } = health;
      if (snapshot.sha256 === (await readSha256(path))) return;
      reason = refused_replacement
        ? `${NOT_SERVED}, which ${refused_replacement}`
        : `the server still serves a snapshot built at ${snapshot.built_at}`;
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
    if (performance.now() >= endMs) {
      throw new Error(`${path} was written, but not confirmed: ${reason}`);
    }
    await sleep(CONFIRM_MS);
  }
}

async function fetchHealth(base: string, timeoutMs: number) {
  const url = `${base}/health`;
  // A password in the URL is sent to the server but never printed.
  const shown = url.replace(/\/\/[^/]*@/, "//");
  let status: number;
  let body: string;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
    status = response.status;
    body = (await response.text()).trim();
  } catch (error) {
    throw new Error(`no response from ${shown}: ${networkReasonOf(error, timeoutMs)}`);
  }
  if (status !== 200 || !body.startsWith('{"success":true')) {
    throw new Error(`${shown} is not a healthy Roadbook (status ${status})`);
  }
  const health: HealthBody = JSON.parse(body);
  return { body, health };
}
