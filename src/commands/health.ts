/** `roadbook health`: checks a running server, for use in scripts and container health checks. */
import { networkReasonOf } from "../files/errors.ts";
import { requireBun } from "../flag-kinds.ts";
import { writeStdout } from "./output.ts";

const TIMEOUT_MS = 5_000;

type Server = Record<"url" | "tlsCert", string | undefined> & { host: string; port: number };

/** Without `url`, checks a server on this machine. */
export async function runHealth({ url: base, host, port, tlsCert }: Server): Promise<void> {
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
      signal: AbortSignal.timeout(TIMEOUT_MS),
      // A local server's certificate names its public host, not this machine's address.
      tls: { rejectUnauthorized: base !== undefined },
    });
    status = response.status;
    body = (await response.text()).trim();
  } catch (error) {
    throw new Error(`no response from ${shown}: ${networkReasonOf(error, TIMEOUT_MS)}`);
  }
  if (status !== 200 || !body.startsWith('{"success":true')) {
    throw new Error(`${shown} responded with ${status}, but not like a healthy Roadbook`);
  }
  writeStdout(`${body}\n`);
}
