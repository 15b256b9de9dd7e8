/** `roadbook health`: asks a running server, for scripts and container health checks. */
import type { Settings } from "../config.ts";
import { UsageError } from "../config.ts";

const TIMEOUT_MS = 5_000;

export async function runHealth(settings: Settings): Promise<number> {
  const [base = `http://${settings.text("host")}:${settings.text("port")}`] = settings.words;
  if (!URL.canParse(base) || !/^https?:/.test(base)) {
    throw new UsageError(`"${base}" is not an http or https URL`);
  }
  const url = `${base.replace(/\/+(health)?$/, "")}/health`.replace("/health/health", "/health");
  let response: Response;
  try {
    response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch {
    throw new Error(`no answer from ${url}`);
  }
  const body = (await response.text()).trim();
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${body}`);
  process.stdout.write(`${body}\n`);
  return 0;
}
