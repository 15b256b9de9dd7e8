/** Adds the headers of the server: a date for HEAD and, while it stops, `connection: close`. */
import type { RequestHandler } from "../http/request-handler.ts";
import type { ProxyWarning } from "./proxy-warning.ts";

export class ServerHandler {
  readonly #handler: RequestHandler;
  /** Undefined if no search is counted, so that no proxy matters. */
  readonly #proxyWarning: ProxyWarning | undefined;
  #isStopping = false;

  constructor(handler: RequestHandler, proxyWarning: ProxyWarning | undefined) {
    this.#handler = handler;
    this.#proxyWarning = proxyWarning;
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
    this.#proxyWarning?.check(request, peer);
    return this.#finish(request, this.#handler.fetch(request, peer));
  };

  #finish(request: Request, response: Response | Promise<Response>): Response | Promise<Response> {
    // Bun sends an awaited response later, so only these are awaited.
    const isChanged = request.method === "HEAD" || this.#isStopping;
    return isChanged ? this.#addHeaders(request, response) : response;
  }

  async #addHeaders(request: Request, pending: Response | Promise<Response>): Promise<Response> {
    const response = await pending;
    // Bun omits it for HEAD.
    if (request.method === "HEAD") response.headers.set("date", new Date().toUTCString());
    if (this.#isStopping) response.headers.set("connection", "close");
    return response;
  }
}
