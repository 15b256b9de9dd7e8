/** The messages of `serve` about its start: to the operator, and to programs that wait for it. */
import type { Logger } from "pino";
import { paragraph } from "../domain/text.ts";
import { formatDuration } from "../domain/time.ts";
import { version } from "../domain/version.ts";
import { endpoints } from "../http/endpoints.ts";
import { METRICS_PATH } from "../server/admin.ts";
import type { Log } from "../server/log.ts";
import type { ServeValues } from "../settings/serve-flags.ts";
import type { Meta } from "../snapshot/format/meta.ts";
import { DOCS_PATH } from "../web/page.ts";
import { writeStdout } from "./terminal.ts";

/** Warns at the start about flags that have a surprising effect, alone or without others. */
export function warnAboutFlags(values: ServeValues, log: Logger): void {
  const { faults, faultSeed, reusePort, rateLimitStore, searchLimit } = values;
  if (faults) {
    const fault = faults.map((each) => (each === "none" ? each : each.text)).join(";");
    log.warn({ fault, faultSeed }, "FAULT INJECTION IS ON: this server is for tests only");
  }
  if (reusePort && rateLimitStore === undefined && searchLimit > 0) {
    log.warn("with --reuse-port and no --rate-limit-store, each process allows the whole limit");
  }
  const { cacheMaxAge, trustedProxies, publicUrl } = values;
  if (cacheMaxAge > 0 && trustedProxies !== undefined && publicUrl === undefined) {
    const sentence = paragraph(
      "--cache-max-age without --public-url: responses to requests with X-Forwarded-Host are private, so",
      "that no shared cache serves a forged host to everybody; give --public-url to have them shared",
    );
    log.warn(sentence);
  }
}

/** Leaves out the proxy's address, because it may be a person's. */
export function warnAboutSharedBudget(header: string, log: Logger): void {
  const untrusted = paragraph(
    "X-Forwarded-For came from an address that is not trusted, so everybody behind that proxy shares",
    "one search budget; if the proxy is yours, name its address with --trusted-proxy",
  );
  const hidden = paragraph(
    `${header} names another client than X-Forwarded-For; if a proxy in front of yours sets it, everybody`,
    "behind that proxy shares one search budget, unless yours trusts it, with trusted_proxies in Caddy",
    "or set_real_ip_from in nginx",
  );
  log.warn(header === "X-Forwarded-For" ? untrusted : hidden);
}

/** Says what is served and where: to programs that wait for the server, and to people. */
export function announce(
  values: ServeValues,
  { built_at: builtAt, counts, featured }: Meta,
  url: string,
  adminUrl: string | undefined,
  log: Log,
): void {
  const { data = "the bundled data", snapshot = data, searchLimit, searchWindow } = values;
  const name = typeof snapshot === "object" ? snapshot.name : snapshot;

  writeStdout(`roadbook listening on ${url}\n`);
  log.info({ version, snapshot: name, builtAt, counts, url, adminUrl }, "ready");
  if (!log.isLevelEnabled("info")) return;

  const profilePath = endpoints.getPublicUser.path.replace(":userId", String(featured[0] ?? 1));
  const tips = [`API    ${url}${profilePath}`, `docs   ${url}${DOCS_PATH}`];
  if (!values.noPage) tips.unshift(`page   ${url}/`);
  if (adminUrl !== undefined) tips.push(`admin  ${adminUrl}${METRICS_PATH}`);
  const limit = `${searchLimit} searches in ${formatDuration(searchWindow)} per client`;
  if (searchLimit > 0) tips.push(`${limit}; --search-limit 0 lifts this`);
  log.writeToTerminal(tips.map((tip) => `  ${tip}\n`).join(""));
}
