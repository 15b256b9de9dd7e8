/**
 * Takes every request before Elysia does: keeps the facts that its `Request` does not have, and rewrites
 * what Elysia cannot route.
 */
import { type Client, type Clients, isAddress } from "../limit/client-address.ts";
import type { Decision } from "../limit/limiter.ts";
import { apiUrlPattern } from "./endpoints.ts";
import { busy } from "./errors.ts";
import { LOCAL_ORIGIN, pathOf, pathStart, withoutBase } from "./url.ts";

/** {@link peerOf} explains `from`. Throws only if `request` is not a `Request`. */
export type FetchHandler = (request: Request, from?: unknown) => Response | Promise<Response>;

/** Lets a server give clients turns. */
export interface RequestHandler {
  fetch: FetchHandler;
  /** Responds that too many requests of this client are waiting. */
  respondBusy: FetchHandler;
  clientOf(request: Request, from: unknown): Client;
  /** Matches the URLs of the API. */
  apiUrl: RegExp;
  /** Matches these except searches. */
  lookupUrl: RegExp;
}

interface Routed {
  app: { fetch(request: Request): Response | Promise<Response> };
  contexts: RequestContexts;
  respond(handled: { request: Request; responseValue: object }): Response;
  basePath: string;
}

export function createRequestHandler({ app, contexts, respond, basePath }: Routed): RequestHandler {
  /** Starts the context of a request, and returns what Elysia gets. */
  function start(request: Request, from: unknown): Request {
    const routable = toRoutable(request, basePath);
    contexts.start(request, peerOf(request, from), routable);
    return routable;
  }

  return {
    fetch(request, from) {
      if (typeof request?.headers?.get !== "function") {
        throw new TypeError(
          "fetch takes a Request; in Express and node:http, use roadbook.listener",
        );
      }
      return app.fetch(start(request, from));
    },
    respondBusy: (request, from) => respond({ request: start(request, from), responseValue: busy }),
    clientOf: (request, from) => contexts.clientOf({ request, peer: peerOf(request, from) }),
    apiUrl: apiUrlPattern(basePath),
    lookupUrl: apiUrlPattern(basePath, "Search"),
  };
}

/** Elysia starts looking for the path at this index, so a host that ends earlier is replaced. */
const MIN_PATH_START = 11;

/**
 * Rewrites a request if its host is too short for Elysia, its path has the base path, or its method
 * is HEAD, for which Elysia would read the whole body to find its length.
 */
function toRoutable(request: Request, basePath: string): Request {
  const { url, method, headers } = request;
  const start = pathStart(url);
  const isHostShort = start < MIN_PATH_START;
  const isHead = method === "HEAD";
  const mayBeUnderBase = basePath !== "" && url.startsWith(basePath, start);
  if (!isHostShort && !isHead && !mayBeUnderBase) return request;

  // The target of a CONNECT request is not a path.
  const path = start < 0 ? "/*" : pathOf(url);
  const inner = withoutBase(path, basePath) || "/";
  const query = start < 0 ? "" : url.slice(start + path.length);

  // Every unsupported method becomes POST, because a `Request` cannot have CONNECT or TRACE.
  const known = isHead ? "GET" : method;
  const routable = known === "GET" || known === "OPTIONS" ? known : "POST";
  return new Request(LOCAL_ORIGIN + inner + query, { method: routable, headers });
}

/** What Bun, Deno and Hono on Node pass to a fetch handler has one of these. */
interface Runtime {
  requestIP(request: Request): { address: string } | null;
  remoteAddr: { hostname: string };
  incoming: { socket?: { remoteAddress?: string } };
}

/**
 * The peer of `request`. `from` is an address, a function that returns one, or the argument that a
 * runtime passes. With anything else there is no peer. Never throws, whatever `from` is.
 */
function peerOf(request: Request, from: unknown): Peer {
  if (typeof from === "string") return from || undefined;
  if (typeof from === "function") return () => from();
  try {
    const { requestIP, remoteAddr, incoming }: Partial<Runtime> = Object(from);
    if (typeof requestIP === "function") return () => requestIP.call(from, request)?.address;
    if (remoteAddr) return () => remoteAddr.hostname;
    return incoming ? () => incoming.socket?.remoteAddress : undefined;
  } catch {
    return undefined;
  }
}

/** An address, or a function that is called only when the address is needed. */
export type Peer = string | (() => string | undefined) | undefined;

/** The facts that identify the client of a request. */
interface Sender {
  /** As it was sent. The one that Elysia gets may have another URL and method. */
  request: Request;
  peer: Peer;
}

export interface RequestContext extends Sender {
  /** Whether the peer is a proxy whose headers count. */
  isTrusted: boolean;
  requestId: string;
  /** When the request arrived, on the monotonic clock. */
  startMs: number;
  /** The decision of the search limit. Undefined if the request was not counted. */
  decision: Decision | undefined;
}

/** The ids that are safe in logs and headers. */
export const REQUEST_ID = /^[\w.~+/=:@-]{1,128}$/;

/** Set to the client's address by proxies in front of the trusted one. */
const CLIENT_HEADERS = ["CF-Connecting-IP", "True-Client-IP", "Fastly-Client-IP", "X-Real-IP"];

export type RequestContexts = ReturnType<typeof createContexts>;

/** The options that say which client a request counts for. */
export interface ClientOptions {
  clients: Clients;
  /** The peer assumed for requests without one. A search with no peer at all is not counted. */
  defaultPeer?: string | undefined;
  /**
   * Called once, with a header's name, if many clients turn out to share one search budget:
   * `X-Forwarded-For` if it comes from a proxy that is not trusted, or another header that names
   * another client.
   */
  onSharedBudget?: ((header: string) => void) | undefined;
}

/** Keeps the context of each request by its `Request`, the only object that all hooks share. */
export function createContexts(options: ClientOptions) {
  const { clients, defaultPeer, onSharedBudget } = options;
  const contexts = new WeakMap<Request, RequestContext>();
  /** Also true if nobody wants to know. */
  let isSharingReported = onSharedBudget === undefined;

  function clientOf({ request, peer }: Sender): Client {
    return clients.clientOf(addressOf(peer), request.headers.get("x-forwarded-for"));
  }

  function reportSharing(sender: Sender, isTrusted: boolean): void {
    const header = findSharingHeader(sender, isTrusted);
    if (header === undefined) return;
    isSharingReported = true;
    onSharedBudget?.(header);
  }

  /** Finds a header that shows that many clients share the budget of the one that is counted. */
  function findSharingHeader(sender: Sender, isTrusted: boolean): string | undefined {
    const { headers } = sender.request;
    if (!isTrusted) return headers.has("x-forwarded-for") ? "X-Forwarded-For" : undefined;
    return CLIENT_HEADERS.find((name) => {
      const address = headers.get(name);
      if (address === null || !isAddress(address)) return false;
      return clients.clientOf(address, null).key !== clientOf(sender).key;
    });
  }

  /** Elysia gets `routable` instead of `request`. */
  function start(request: Request, peer: Peer = defaultPeer, routable = request): RequestContext {
    const { headers } = request;
    const isTrusted = clients.trustsAny && clients.trusts(addressOf(peer));
    if (!isSharingReported) reportSharing({ request, peer }, isTrusted);

    const context: RequestContext = {
      request,
      peer,
      isTrusted,
      requestId: requestIdOf(headers, isTrusted),
      startMs: performance.now(),
      decision: undefined,
    };
    contexts.set(request, context);
    if (routable !== request) contexts.set(routable, context);
    return context;
  }

  /** A request that a host's app has refused before our hooks has no context yet, nor a peer. */
  function of(request: Request): RequestContext {
    return contexts.get(request) ?? start(request);
  }

  return {
    start,
    of,
    clientOf,
    /** The client whose requests are counted, if they are. */
    limitedClientOf(request: Request): Client | undefined {
      const context = of(request);
      // A request without a peer comes from the program that embeds Roadbook.
      if (context.peer === undefined) return undefined;
      const client = clientOf(context);
      return client.isLimited ? client : undefined;
    },
  };
}

/** Returns undefined also if a function finds no address, or throws. */
function addressOf(peer: Peer): string | undefined {
  try {
    const address: unknown = typeof peer === "function" ? peer() : peer;
    return typeof address === "string" && address !== "" ? address : undefined;
  } catch {
    return undefined;
  }
}

/** A new id, or the one that a trusted proxy has sent. */
function requestIdOf(headers: Headers, isTrusted: boolean): string {
  const given = isTrusted ? headers.get("x-request-id") : null;
  return given !== null && REQUEST_ID.test(given) ? given : crypto.randomUUID();
}
