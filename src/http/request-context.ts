/**
 * Keeps the context of each request: its peer, id, start time and rate-limit decision. Contexts are
 * keyed by `Request` object, the only thing that all Elysia hooks share. Also finds the peer in the
 * second argument of the fetch handler, which differs between runtimes.
 */
import type { Clients } from "../limit/client-address.ts";
import type { Decision } from "../limit/limiter.ts";
import { forwardedOriginOf, originOf } from "./request.ts";

/** The ids that are safe in logs and headers. Spaces, quotes and non-ASCII are not. */
const REQUEST_ID = /^[\w.~+/=:@-]{1,128}$/;

/** The facts about a response for logs and metrics. None of them can contain a person's name. */
export interface ResponseFacts {
  requestId: string;
  method: string;
  /**
   * The path template without /api, such as `/users/public/:userId`. Undefined for an unknown path.
   */
  route: string | undefined;
  status: number;
  /** The search limit's decision; undefined if the request was not counted. */
  search: "allowed" | "refused" | undefined;
  /** The time from receiving the request headers until the response is ready to send. */
  durationMs: number;
  /**
   * Returns the client whose searches are counted together: an IPv4 address or an IPv6 network.
   * Call it synchronously, because a runtime knows the address only until the response is sent.
   */
  client(): string;
}

export interface RequestContext {
  peer: Peer;
  /**
   * The URL as the client or a proxy sent it. The `Request` for Elysia may have a different URL.
   */
  url: string;
  requestId: string;
  /** The method that the client sent. `toRoutable` may give Elysia a different method. */
  method: string;
  startMs: number;
  decision: Decision | undefined;
}

export type RequestContexts = ReturnType<typeof createRequestContexts>;

/** `defaultPeer` is the peer assumed for requests without one. */
export function createRequestContexts(
  clients: Clients,
  basePath: string,
  defaultPeer: string | undefined,
) {
  const contexts = new WeakMap<Request, RequestContext>();

  function start(request: Request, known: Partial<RequestContext> = {}): RequestContext {
    const peer = known.peer ?? defaultPeer;
    const context = {
      peer,
      url: known.url ?? request.url,
      requestId: known.requestId ?? requestIdOf(request, peer),
      method: known.method ?? request.method,
      startMs: performance.now(),
      decision: undefined,
    };
    contexts.set(request, context);
    return context;
  }

  /** A request that arrived through a host's app has no context yet, so `of` starts one. */
  const of = (request: Request): RequestContext => contexts.get(request) ?? start(request);

  const isTrusted = (peer: Peer) => clients.trustsAny && clients.trusts(addressOf(peer));

  /**
   * The id that a trusted proxy gave the request, or a new id. No other client can choose an id.
   */
  function requestIdOf({ headers }: Request, peer: Peer): string {
    const given = clients.trustsAny ? headers.get("x-request-id") : null;
    return given !== null && REQUEST_ID.test(given) && isTrusted(peer)
      ? given
      : crypto.randomUUID();
  }

  /** Returns the key under which the client's searches are counted. */
  function clientOf(request: Request, { peer }: RequestContext): string {
    return clients.keyOf(addressOf(peer), request.headers.get("x-forwarded-for"));
  }

  return {
    start,
    of,
    clientOf,
    /** Whether the client's searches are not counted. */
    isUnlimited: (request: Request, { peer }: RequestContext): boolean =>
      clients.isUnlimited(addressOf(peer), request.headers.get("x-forwarded-for")),
    /** The server's origin as the client sees it. */
    originOf(request: Request): string {
      const { url, peer } = of(request);
      return isTrusted(peer) ? forwardedOriginOf(url, request.headers) : originOf(url);
    },
    factsOf(
      context: RequestContext,
      request: Request,
      route: string | undefined,
      status: number,
    ): ResponseFacts {
      const { requestId, method, decision } = context;
      return {
        requestId,
        method,
        route: route && templateOf(route, basePath),
        status,
        search: decision && (decision.allowed ? "allowed" : "refused"),
        durationMs: performance.now() - context.startMs,
        client: () => clientOf(request, context),
      };
    },
  };
}

/** Strips the base path and the /api prefix from a route. */
function templateOf(route: string, basePath: string): string {
  const own = route.startsWith(`${basePath}/`) ? route.slice(basePath.length) : route;
  return own.startsWith("/api/") ? own.slice("/api".length) : own;
}

function addressOf(peer: Peer): string | undefined {
  return typeof peer === "function" ? peer() : peer;
}

/** An address, or a function that is called only when the address is needed. */
export type Peer = string | (() => string | undefined) | undefined;

/** The second argument of a fetch handler, by runtime. */
interface RuntimeInfo {
  /** Set if the runtime is Bun, which passes its server. */
  requestIP?: unknown;
  /** Set if the runtime is Deno, which passes an info object. */
  remoteAddr?: { hostname?: unknown };
  /** Set by Hono on Node, which passes its env. */
  incoming?: { socket?: { remoteAddress?: unknown } };
}

/**
 * The peer of `request`. `from` is an address, a function that returns an address, or the argument
 * that a runtime passes. Any other value means that there is no peer. All requests for which a
 * function finds no address are treated as one client. Nothing here throws, whatever `from` is.
 */
export function peerOf(request: Request, from: unknown): Peer {
  if (typeof from === "string") return from || undefined;
  const find = finderOf(request, from);
  return find && (() => quietly(() => addressIn(find())));
}

function finderOf(request: Request, from: unknown): (() => unknown) | undefined {
  if (typeof from === "function") return () => from();
  return quietly(() => {
    const { requestIP, remoteAddr, incoming }: RuntimeInfo = Object(from);
    if (typeof requestIP === "function") return () => requestIP.call(from, request)?.address;
    if (remoteAddr) return () => remoteAddr.hostname;
    return incoming && (() => incoming.socket?.remoteAddress);
  });
}

function addressIn(found: unknown): string | undefined {
  return typeof found === "string" && found !== "" ? found : undefined;
}

/** Returns undefined if `read` throws. */
function quietly<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
