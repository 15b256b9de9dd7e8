/** `roadbook health`: asks a running server, for scripts and container health checks. */
import { codeOf, reasonOf } from "../files/errors.ts";
import { writeStdout } from "./output.ts";

const TIMEOUT_MS = 5_000;

/** What is wrong is shown up to so many characters: a proxy may respond with a page. */
const MAX_SHOWN_LENGTH = 200;

interface ServerOptions {
  host: string;
  port: number;
  tlsCert?: string | undefined;
}

/** Asks the server at `base`, or else the one on this machine with those options. */
export async function runHealth(base: string | undefined, options: ServerOptions): Promise<void> {
  const url = healthUrl(base ?? ownUrl(options));
  // A password in the URL is sent, and never shown.
  const shown = url.href.replace(/\/\/[^/]*@/, "//");
  let response: Response;
  let body: string;
  try {
    response = await fetch(url, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
      // A certificate is made out to the name that clients use, not to this machine's address.
      tls: { rejectUnauthorized: base !== undefined },
    });
    body = (await response.text()).trim();
  } catch (error) {
    throw new Error(`no response from ${shown}: ${describeFailure(error)}`);
  }
  if (!response.ok || !isHealthy(body)) {
    const line = body.replace(/\s+/g, " ").slice(0, MAX_SHOWN_LENGTH);
    throw new Error(`${shown} responded with ${response.status}: ${line}`);
  }
  writeStdout(`${body}\n`);
}

/** The health route below a base URL, which may have a path or be the route itself. */
function healthUrl(base: string): URL {
  const url = new URL(base);
  const path = url.pathname.replace(/\/+$/, "");
  url.pathname = path.endsWith("/health") ? path : `${path}/health`;
  return url;
}

function isHealthy(body: string): boolean {
  try {
    return JSON.parse(body).success === true;
  } catch {
    return false;
  }
}

function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return `it took over ${TIMEOUT_MS / 1000} s`;
  return codeOf(error) === "ECONNREFUSED" ? "connection refused" : reasonOf(error);
}

/** Where a server with the same options listens. */
function ownUrl({ host, port, tlsCert }: ServerOptions): string {
  return `${tlsCert ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
