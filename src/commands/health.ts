/** `roadbook health`: checks a running server, for use in scripts and container health checks. */
import { networkReasonOf } from "../files/errors.ts";
import { requireBun } from "../settings/kinds.ts";
import { writeStdout } from "./output.ts";

interface Server {
  url?: string | undefined;
  host: string;
  port: number;
  tlsCert?: string | undefined;
  timeoutMs?: number;
}

/** Without `url`, checks a server on this machine. */
export async function runHealth(server: Server): Promise<void> {
  const { url: base, host, port, tlsCert, timeoutMs = 5000 } = server;
  // Under Node, `fetch` cannot skip the check of a certificate's host name.
  if (base === undefined && tlsCert) requireBun("--tls-cert without URL ");
  const origin = `http${tlsCert ? "s" : ""}://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const url = `${base ?? origin}/health`;
  // A password in the URL is sent to the server but never printed.
  const shown = url.replace(/\/\/[^/]*@/, "//");
  let status: number;
  let body: string;
  try {
    const response = await fetch(url, {
      signal: AbortSignal.timeout(timeoutMs),
      // A local server's certificate names its public host, not this machine's address.
      tls: { rejectUnauthorized: base !== undefined },
    });
    status = response.status;
    body = (await response.text()).trim();
  } catch (error) {
    throw new Error(`no response from ${shown}: ${networkReasonOf(error, timeoutMs)}`);
  }
  if (status !== 200 || !body.startsWith('{"success":true')) {
    throw new Error(`${shown} is not a healthy Roadbook (status ${status})`);
  }
  writeStdout(`${body}\n`);
}
