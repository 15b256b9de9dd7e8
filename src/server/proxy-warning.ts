/** Warns once if a proxy sends X-Forwarded-For, but `--trusted-proxy` does not name its address. */
import type { Logger } from "pino";
import { paragraph } from "../domain/text.ts";
import type { RequestHandler } from "../http/request-handler.ts";

/** Leaves out the address, because it may be a person's. */
const BEHIND_PROXY = paragraph(
  "X-Forwarded-For came from an address that is not trusted, so everybody behind that proxy shares",
  "one search budget; if the proxy is yours, name its address with --trusted-proxy",
);

export class ProxyWarning {
  readonly #handler: Pick<RequestHandler, "isTrusted">;
  readonly #log: Logger;
  #isGiven = false;

  constructor(handler: Pick<RequestHandler, "isTrusted">, log: Logger) {
    this.#handler = handler;
    this.#log = log;
  }

  check(request: Request, peer: unknown): void {
    if (this.#isGiven || !request.headers.has("x-forwarded-for")) return;
    if (this.#handler.isTrusted(request, peer)) return;
    this.#isGiven = true;
    this.#log.warn(BEHIND_PROXY);
  }
}
