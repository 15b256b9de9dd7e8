/** `roadbook health`: checks a running server, for use in scripts and container health checks. */
import { networkReasonOf } from "../files/errors.ts";
import { writeStdout } from "./output.ts";

interface Server {
  url?: string | undefined;
  host: string;
  port: number;
  timeoutMs?: number;
}

/** Without `url`, checks a server on this machine that serves http. */
export async function runHealth({ url: base, host, port, timeoutMs = 5000 }: Server) {
  const url = `${base ?? `http://${host.includes(":") ? `[${host}]` : host}:${port}`}/health`;
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
  writeStdout(`${body}\n`);
}
