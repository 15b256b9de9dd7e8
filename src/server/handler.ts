/** Adds to the app the headers that only a server knows, and a warning about its proxy. */
import type { Logger } from "pino";
import type { RequestHandler } from "../http/request-handler.ts";

/** Leaves out the address, because it may be a person's. */
const BEHIND_PROXY =
  "X-Forwarded-For came from an address that is not trusted, so everybody behind that proxy shares one search budget; if the proxy is yours, name its address with --trusted-proxy";

/** Responds like the app's handler, and adds the headers that only a server knows. */
export class ServerHandler {
  readonly #handler: RequestHandler;
  readonly #log: Logger;
  /** Whether a proxy that is not trusted is still to be reported. It is reported once. */
  #warnsOfProxy: boolean;
  #isStopping = false;

  constructor(handler: RequestHandler, log: Logger, options: { warnsOfProxy: boolean }) {
    this.#handler = handler;
    this.#log = log;
    this.#warnsOfProxy = options.warnsOfProxy;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** From now on, responses close their connections. */
  stop(): void {
    this.#isStopping = true;
  }

  readonly clientOf: RequestHandler["clientOf"] = (request, peer) =>
    this.#handler.clientOf(request, peer);

  readonly refuse = (request: Request, peer: unknown): Response | Promise<Response> =>
    this.#finish(request, this.#handler.refuse(request, peer));

  readonly fetch: RequestHandler["fetch"] = (request, peer) => {
    if (this.#warnsOfProxy && request.headers.has("x-forwarded-for")) this.#warn(request, peer);
    return this.#finish(request, this.#handler.fetch(request, peer));
  };

  #finish(request: Request, response: Response | Promise<Response>): Response | Promise<Response> {
    // Bun sends an awaited response later, so only these are awaited.
    const isChanged = request.method === "HEAD" || this.#isStopping;
    return isChanged ? this.#addHeaders(request, response) : response;
  }

  #warn(request: Request, peer: unknown): void {
    if (this.#handler.isTrusted(request, peer)) return;
    this.#warnsOfProxy = false;
    this.#log.warn(BEHIND_PROXY);
  }

  async #addHeaders(request: Request, pending: Response | Promise<Response>): Promise<Response> {
    const response = await pending;
    // Bun omits it for HEAD.
    if (request.method === "HEAD") response.headers.set("date", new Date().toUTCString());
    if (this.#isStopping) response.headers.set("connection", "close");
    return response;
  }
}
