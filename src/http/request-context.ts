/**
 * Keeps the context of each request: its peer, id, start time and rate-limit decision. Contexts are
 * keyed by `Request` object, the only thing that all Elysia hooks share.
 */
import type { Clients } from "../limit/client-address.ts";
import type { Decision } from "../limit/limiter.ts";
import type { Peer } from "./peer.ts";
import { forwardedOriginOf, isRequestId, originOf } from "./request.ts";

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

type KnownContext = Partial<Pick<RequestContext, "peer" | "url" | "requestId" | "method">>;

export type RequestContexts = ReturnType<typeof createRequestContexts>;

/** `defaultPeer` is the peer assumed for requests without one. */
export function createRequestContexts(clients: Clients, defaultPeer: string | undefined) {
  const contexts = new WeakMap<Request, RequestContext>();

  function start(
    request: Request,
    {
      peer = defaultPeer,
      url = request.url,
      requestId,
      method = request.method,
    }: KnownContext = {},
  ): RequestContext {
    const context = {
      peer,
      url,
      requestId: requestId ?? requestIdOf(request, peer),
      method,
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
    return given !== null && isRequestId(given) && isTrusted(peer) ? given : crypto.randomUUID();
  }

  return {
    start,
    of,
    clientOf: (request: Request, { peer }: RequestContext): string =>
      clients.keyOf(addressOf(peer), request.headers.get("x-forwarded-for")),
    /** Whether the client runs on the same machine as the server. */
    isLocal: (request: Request, { peer }: RequestContext): boolean =>
      clients.isLocal(addressOf(peer), request.headers.get("x-forwarded-for")),
    /** The server's origin as the client sees it. */
    originOf(request: Request): string {
      const { url, peer } = of(request);
      return isTrusted(peer) ? forwardedOriginOf(url, request.headers) : originOf(url);
    },
  };
}

function addressOf(peer: Peer): string | undefined {
  return typeof peer === "function" ? peer() : peer;
}
