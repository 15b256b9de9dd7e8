/** `roadbook health`: asks a running server for its health. */
import { networkReasonOf } from "../files/errors.ts";
import { endpoints } from "../http/endpoints.ts";
import type { HealthBody } from "../http/health.ts";
import { toUrlHost } from "../http/url.ts";
import { UsageError } from "../settings/usage-error.ts";
import { parseWebLocation } from "../snapshot/remote/location.ts";
import { writeStdout } from "./stdout.ts";

/** How long one request may take. */
export const REQUEST_MS = 5000;

export const NOT_SERVED = "the server does not serve the newest snapshot, which ";

type ServerAddress = { url: string | undefined; host: string; port: number };

/** Without `url`, checks a server on this machine that serves http. */
export async function runHealth({ url, host, port }: ServerAddress): Promise<void> {
  const local = `http://${toUrlHost(host)}:${port}`;
  const health = await fetchHealth(url ?? local);
  const reason = health.refused_replacement;
  if (reason) process.stderr.write(`roadbook: warning: ${NOT_SERVED}${reason}\n`);
  writeStdout(`${JSON.stringify(health)}\n`);
}

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
  const body = (await response.text().catch(fail)).trim();
  const health = response.status === 200 ? parseHealth(body) : undefined;
  if (health) return health;
  const advice = base.endsWith(path) ? `; leave ${path} out of the given URL` : "";
  throw new Error(`${shown} is not a healthy Roadbook (status ${response.status})${advice}`);
}

/** Returns undefined for what another program responds. */
function parseHealth(body: string): HealthBody | undefined {
  try {
    const health: Partial<HealthBody> | null = JSON.parse(body);
    const isOurs = health?.success === true && typeof health.snapshot?.sha256 === "string";
    return isOurs ? (health as HealthBody) : undefined;
  } catch {
    return undefined;
  }
}
