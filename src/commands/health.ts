/** `roadbook health`: checks a running server, for use in scripts and container health checks. */
import { networkReasonOf } from "../files/errors.ts";
import { requireBun } from "../flag-kinds.ts";
import { writeStdout } from "./output.ts";

/** Longer response bodies are truncated, because a proxy may respond with a whole page. */
const MAX_SHOWN_LENGTH = 200;

/** `base` is the server's base URL or its /health URL. Defaults to a server on this machine. */
export async function runHealth(
  base: string | undefined,
  {
    host,
    port,
    tlsCert,
    timeoutMs = 5_000,
  }: { host: string; port: number; tlsCert?: string | undefined; timeoutMs?: number },
): Promise<void> {
  // Under Node, `fetch` cannot skip the check of a certificate's host name.
  if (base === undefined && tlsCert) requireBun("--tls-cert without URL ");
  const scheme = tlsCert ? "https" : "http";
  const url = new URL(base ?? `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`);
  url.pathname = url.pathname.replace(/(?:\/health)?\/*$/, "/health");
  // A password in the URL is sent to the server but never printed.
  const shown = url.href.replace(/\/\/[^/]*@/, "//");
  let response: Response;
  let body: string;
  try {
    response = await fetch(url, {
      signal: AbortSignal.timeout(timeoutMs),
      // A local server's certificate names its public host, not this machine's address.
      tls: { rejectUnauthorized: base !== undefined },
    });
    body = (await response.text()).trim();
  } catch (error) {
    throw new Error(`no response from ${shown}: ${networkReasonOf(error, timeoutMs)}`);
  }
  if (!response.ok || !body.startsWith('{"success":true')) {
    const start = body.replace(/\s+/g, " ").slice(0, MAX_SHOWN_LENGTH);
    throw new Error(`${shown} responded with ${response.status}: ${start}`);
  }
  writeStdout(`${body}\n`);
}
