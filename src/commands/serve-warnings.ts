/** The warnings of `serve` about flags with a surprising effect, or missing. */
import type { Logger } from "pino";
import { paragraph } from "../domain/text.ts";
import type { ServeValues } from "../settings/serve-flags.ts";

/** Called at the start. */
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

/** Leaves out the address, because it may be a person's. */
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
