/** The warnings of `serve` about its flags: without effect, with a surprising one, or missing. */
import type { Logger } from "pino";
import { paragraph } from "../domain/text.ts";
import type { SharedBudget } from "../http/request-context.ts";
import { defaultOf } from "../settings/read-value.ts";
import { type ServeValues, serveSettings } from "../settings/serve-flags.ts";
import { shadeAccent } from "../web/brand.ts";

/** Called at the start. `isPublic` looks a user up in the snapshot that is served. */
export function warnAboutFlags(
  values: ServeValues,
  isPublic: (id: number) => boolean,
  log: Logger,
): void {
  for (const sentence of listFlagsWithoutEffect(values, isPublic, log)) log.warn(sentence);
  warnAboutFaults(values, log);
  warnAboutPartialLimit(values, log);
  warnAboutForwardedHosts(values, log);
  warnAboutShades(values, log);
}

/** Leaves out the address, because it may be a person's. */
export function warnAboutSharedBudget(cause: SharedBudget, log: Logger): void {
  const untrusted = paragraph(
    "X-Forwarded-For came from an address that is not trusted, so everybody behind that proxy shares",
    "one search budget; if the proxy is yours, name its address with --trusted-proxy",
  );
  const hidden = paragraph(
    `${cause} names another client than X-Forwarded-For; if a proxy in front of yours sets it, everybody`,
    "behind that proxy shares one search budget, unless yours trusts it, with trusted_proxies in Caddy",
    "or set_real_ip_from in nginx",
  );
  log.warn(cause === "X-Forwarded-For" ? untrusted : hidden);
}

/** Yields a sentence for each. */
function* listFlagsWithoutEffect(
  values: ServeValues,
  isPublic: (id: number) => boolean,
  log: Logger,
): Generator<string> {
  const { accessLog, logLevel, kiosk, kioskIdle, featured = [], faults = [] } = values;
  if (accessLog && !log.isLevelEnabled("info")) {
    yield `--access-log logs nothing with --log-level ${logLevel}, because it logs at level info`;
  }
  if (!kiosk && kioskIdle !== defaultOf(serveSettings.kioskIdle)) {
    yield "--kiosk-idle has no effect without --kiosk";
  }
  if (featured.length > 0 && !featured.some((id) => id === "all" || isPublic(id))) {
    yield "--featured has the id of no public driver, so the start page shows none";
  }
  if (faults.length > 1 && faults.includes("none")) {
    yield "--fault none has no effect beside other faults";
  }
}

function warnAboutFaults({ faults, faultSeed }: ServeValues, log: Logger): void {
  if (!faults) return;
  const fault = faults.map((each) => (each === "none" ? each : each.text)).join(";");
  log.warn({ fault, faultSeed }, "FAULT INJECTION IS ON: this server is for tests only");
}

function warnAboutPartialLimit(values: ServeValues, log: Logger): void {
  const { reusePort, rateLimitStore, searchLimit } = values;
  if (!reusePort || rateLimitStore !== undefined || searchLimit === 0) return;
  log.warn("with --reuse-port and no --rate-limit-store, each process allows the whole limit");
}

function warnAboutForwardedHosts(values: ServeValues, log: Logger): void {
  const { cacheMaxAge, trustedProxies, publicUrl } = values;
  if (cacheMaxAge === 0 || trustedProxies === undefined || publicUrl !== undefined) return;
  const sentence = paragraph(
    "--cache-max-age without --public-url: responses to requests with X-Forwarded-Host are private, so",
    "that no shared cache serves a forged host to everybody; give --public-url to have them shared",
  );
  log.warn(sentence);
}

/** Says where rules and marks in the accent would hardly be visible. */
function warnAboutShades({ accent, noPage }: ServeValues, log: Logger): void {
  if (accent === undefined || noPage) return;
  for (const mode of ["light", "dark"] as const) {
    const shown = shadeAccent(accent, mode);
    if (shown === accent) continue;
    log.warn(
      { accent, shown },
      `--accent is hardly visible in ${mode} mode, so rules and marks have another colour there`,
    );
  }
}
