/** `roadbook health`: asks a running server, for scripts and container health checks. */
import { type Settings, UsageError } from "../config.ts";

const TIMEOUT_MS = 5_000;

export async function runHealth(settings: Settings): Promise<number> {
  const [given] = settings.words;
  const base = given ?? ownUrl(settings);
  if (!URL.canParse(base) || !/^https?:/.test(base)) {
    throw new UsageError(`"${base}" is not an http or https URL`);
  }
  const url = `${base.replace(/\/+(health)?$/, "")}/health`.replace("/health/health", "/health");
  let response: Response;
  try {
    response = await fetch(url, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
      // A certificate is made out to the name that clients use, not to this machine's address.
      tls: { rejectUnauthorized: given !== undefined },
    });
  } catch {
    throw new Error(`no answer from ${url}`);
  }
  const body = (await response.text()).trim();
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${body}`);
  process.stdout.write(`${body}\n`);
  return 0;
}

/** Where a server with the same settings listens. */
function ownUrl(settings: Settings): string {
  const [host = "", port] = [settings.text("host"), settings.text("port")];
  const scheme = settings.text("tls-cert") ? "https" : "http";
  return `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
