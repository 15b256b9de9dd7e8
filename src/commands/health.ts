/** `roadbook health`: asks a running server for its health. */
import { UsageError } from "../domain/invalid-value.ts";
import { paragraph } from "../domain/text.ts";
import { networkReasonOf } from "../files/errors.ts";
import { endpoints } from "../http/endpoints.ts";
import type { HealthBody } from "../http/health.ts";
import { DEFAULT_HOST, DEFAULT_PORT, toUrlHost } from "../server/address.ts";
import { declare } from "../settings/setting.ts";
import * as types from "../settings/value-types.ts";
import { parseWebLocation } from "../snapshot/remote/location.ts";
import { command } from "./command.ts";

/** How long one request may take. */
export const REQUEST_MS = 5000;

export const NOT_SERVED = "the server does not serve the newest snapshot, which ";

export const healthCommand = command({
  settings: declare("Flags", {
    url: {
      name: "URL",
      type: types.baseUrl,
      variable: "ROADBOOK_HEALTH_URL",
      help: "the server's base URL, such as https://api.example.org",
    },
    host: {
      type: types.text("ADDRESS"),
      default: DEFAULT_HOST,
      help: "the server's address, if no URL is given",
    },
    port: {
      type: types.port,
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
  const throwUnreachable = (error: unknown) => {
    throw new Error(`no response from ${shown}: ${networkReasonOf(error, timeoutMs)}`);
  };
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await fetch(url, { headers, signal }).catch(throwUnreachable);
  const body = await response.text().catch(throwUnreachable);
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
