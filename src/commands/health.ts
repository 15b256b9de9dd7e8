/**
 * `roadbook health` asks a running server for its health, and `--confirm` waits until it serves the
 * snapshot that a command has written.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { DEFAULT_HOST, DEFAULT_PORT } from "../domain/constants.ts";
import { paragraph } from "../domain/text.ts";
import { networkReasonOf, reasonOf } from "../files/errors.ts";
import { endpoints } from "../http/endpoints.ts";
import type { HealthBody } from "../http/health.ts";
import { toUrlHost } from "../http/url.ts";
import { declare } from "../settings/declare.ts";
import * as kinds from "../settings/kinds.ts";
import { UsageError } from "../settings/read-value.ts";
import { readChecksum } from "../snapshot/format/layout.ts";
import { parseWebLocation } from "../snapshot/remote/location.ts";
import { command, ENDING } from "./command.ts";

/** How long one request may take. */
const REQUEST_MS = 5000;
/** The last request has this time for a response, which says why. */
const LAST_REQUEST_MS = 1000;
const POLL_MS = 100;

const NOT_SERVED = "the server does not serve the newest snapshot, which ";

export const healthCommand = command({
  settings: declare("Flags", {
    url: {
      name: "URL",
      kind: kinds.baseUrl,
      variable: "ROADBOOK_HEALTH_URL",
      help: "the server's base URL, such as https://api.example.org",
    },
    host: {
      kind: kinds.text("ADDRESS"),
      default: DEFAULT_HOST,
      help: "the server's address, if no URL is given",
    },
    port: {
      kind: kinds.port,
      default: DEFAULT_PORT,
      help: "the server's port, if no URL is given",
    },
  }),
  notes: [
    paragraph(
      "These flags use the same environment variables as serve, so both commands can share one",
      "environment.",
      "If the server has a certificate, give its URL, or set ROADBOOK_HEALTH_URL.",
      "The exit code is 1 if the server does not respond or is unhealthy.",
    ),
  ],
  examples: ["health", "health --port 8080", "health https://api.example.org"],
  async run({ url, host, port }) {
    const health = await fetchHealth(url ?? `http://${toUrlHost(host)}:${port}`);
    const reason = health.refused_replacement;
    if (reason) console.error(`roadbook: warning: ${NOT_SERVED}${reason}`);
    console.log(JSON.stringify(health));
  },
});

export async function fetchHealth(base: string, timeoutMs = REQUEST_MS): Promise<HealthBody> {
  const { path } = endpoints.getHealth;
  // A password in the URL is sent to the server but never printed.
  const location = parseWebLocation(base + path);
  if (!location) throw new UsageError("the URL of the server is invalid");
  const { url, headers } = location.prepare();
  const shown = location.name;
  const fail = (error: unknown) => {
    throw new Error(`no response from ${shown}: ${networkReasonOf(error, timeoutMs)}`);
  };
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await fetch(url, { headers, signal }).catch(fail);
  const body = await response.text().catch(fail);
  if (response.status === 200 && isHealth(body)) return JSON.parse(body);
  const advice = base.endsWith(path) ? `; leave ${path} out of the given URL` : "";
  throw new Error(`${shown} is not a healthy Roadbook (status ${response.status})${advice}`);
}

/** Whether it is the response of Roadbook, and not of another program. */
function isHealth(body: string): boolean {
  try {
    const health: Partial<HealthBody> | null = JSON.parse(body);
    return health?.success === true && typeof health.snapshot?.sha256 === "string";
  } catch {
    return false;
  }
}

/** Waits until the server at `url` serves the file at `path`. Throws after `waitMs` or a signal. */
export async function confirmServed(path: string, url: string, waitMs: number): Promise<void> {
  let endMs = performance.now() + waitMs;
  const giveUp = () => {
    endMs = 0;
  };
  for (const signal of ENDING) process.once(signal, giveUp);

  for (;;) {
    const leftMs = Math.ceil(endMs - performance.now());
    const limitMs = Math.max(leftMs, LAST_REQUEST_MS);
    const reason = await findDifference(path, url, limitMs).catch(reasonOf);
    if (reason === undefined) return;

    const problem = `${path} was written, but not confirmed: ${reason}`;
    if (performance.now() >= endMs) throw new Error(problem);
    await sleep(POLL_MS);
  }
}

/** Returns undefined if the server has the SHA-256 at the end of the file, whoever wrote it last. */
async function findDifference(path: string, url: string, limitMs: number) {
  const health = await fetchHealth(url, Math.min(limitMs, REQUEST_MS));
  const { snapshot, refused_replacement: reason } = health;
  if (snapshot.sha256 === (await readChecksum(path))) return undefined;
  return reason ? NOT_SERVED + reason : `the server serves a snapshot of ${snapshot.built_at}`;
}
