/** `roadbook health`: asks a running server, for scripts and container health checks. */
import { codeOf, reasonOf } from "../files/errors.ts";
import { writeStdout } from "./output.ts";
import { requireBun } from "./values.ts";

const TIMEOUT_MS = 5_000;

/** Longer error bodies are cut: a proxy may respond with a page. */
const MAX_SHOWN_LENGTH = 200;

/** Where the system's own words do not help. */
const reasons: Record<string, string> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "the connection was closed",
  ENOTFOUND: "cannot resolve host name",
};

/** Asks the server at `base`, which may have a path or be /health itself; by default, this machine's. */
export async function runHealth(
  base: string | undefined,
  { host, port, tlsCert }: { host: string; port: number; tlsCert?: string | undefined },
): Promise<void> {
  // Node's fetch checks the name in every certificate.
  if (base === undefined && tlsCert) requireBun("--tls-cert without URL");
  const scheme = tlsCert ? "https" : "http";
  const url = new URL(base ?? `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`);
  url.pathname = url.pathname.replace(/(?:\/health)?\/*$/, "/health");
  // A password in the URL is sent, and never shown.
  const shown = url.href.replace(/\/\/[^/]*@/, "//");
  let response: Response;
  let body: string;
  try {
    response = await fetch(url, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
      // A certificate is issued for the name that clients use, not for this machine's address.
      tls: { rejectUnauthorized: base !== undefined },
    });
    body = (await response.text()).trim();
  } catch (error) {
    throw new Error(`no response from ${shown}: ${describeFailure(error)}`);
  }
  const isSuccess = findSuccess(body);
  if (!response.ok || !isSuccess) {
    const { status } = response;
    const line = `responded with ${status}: ${body.replace(/\s+/g, " ").slice(0, MAX_SHOWN_LENGTH)}`;
    // A proxy has an error of its own when Roadbook is down.
    const isOther = isSuccess === undefined && status < 500;
    throw new Error(isOther ? `no Roadbook at ${shown}: it ${line}` : `${shown} ${line}`);
  }
  writeStdout(`${body}\n`);
}

/** The `success` that every JSON body of Roadbook has; undefined in any other body. */
function findSuccess(body: string): boolean | undefined {
  try {
    const { success } = JSON.parse(body);
    return typeof success === "boolean" ? success : undefined;
  } catch {
    return undefined;
  }
}

function describeFailure(error: unknown): string {
  if (error instanceof Error && error.name === "TimeoutError") {
    return `it took over ${TIMEOUT_MS / 1000} s`;
  }
  return reasons[codeOf(error)] ?? reasonOf(error);
}
