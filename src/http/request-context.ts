/**
 * Keeps the context of each request: its peer, id, start time, and the decision of the limit.
 * Contexts are stored by `Request` object, the only thing that all hooks of Elysia share.
 */
import type { Clients } from "../limit/client-address.ts";
import type { Decision } from "../limit/limiter.ts";
import type { Peer } from "./peer.ts";
import { forwardedOriginOf, isRequestId, originOf } from "./request.ts";

/** The facts of a response for logs and metrics. None of them can contain a person's name. */
export interface ResponseFacts {
  requestId: string;
  method: string;
  /** Such as `/users/public/:userId`, also under /api. Undefined for an unknown path. */
  route: string | undefined;
  status: number;
  /** Whether the page made this request on behalf of a client, which gets a different response. */
  isSubrequest: boolean;
  /** The decision of the search limit. Undefined if the request was not counted. */
  search: "allowed" | "refused" | undefined;
  /** From receiving the head of the request until the response is ready to be sent. */
  durationMs: number;
  /**
   * The client that searches are counted by: an IPv4 address or an IPv6 network. Must be called
   * synchronously, because a runtime knows the address only until the response is sent.
   */
  client(): string;
}

export interface RequestContext {
  peer: Peer;
  /** As the client or a proxy sent it. The `Request` for Elysia may have a different one. */
  url: string;
  requestId: string;
  /** As the client sent it. The `Request` for Elysia may have a different one, see toRoutable. */
  method: string;
  isSubrequest: boolean;
  startMs: number;
  decision: Decision | undefined;
}

type KnownContext = Partial<
  Pick<RequestContext, "peer" | "url" | "requestId" | "method" | "isSubrequest">
>;

export type RequestContexts = ReturnType<typeof createRequestContexts>;

/** `defaultPeer` is the peer of requests that come without one. */
export function createRequestContexts(clients: Clients, defaultPeer: string | undefined) {
  const contexts = new WeakMap<Request, RequestContext>();

  function start(
    request: Request,
    {
      peer = defaultPeer,
      url = request.url,
      requestId,
      method = request.method,
      isSubrequest = false,
    }: KnownContext = {},
  ): RequestContext {
    const context = {
      peer,
      url,
      requestId: requestId ?? requestIdOf(request, peer),
      method,
      isSubrequest,
      startMs: performance.now(),
      decision: undefined,
    };
    contexts.set(request, context);
    return context;
  }

  /** A request that came through a host's app has no context yet, so one is started. */
  const of = (request: Request): RequestContext => contexts.get(request) ?? start(request);

  const isTrusted = (peer: Peer) => clients.trustsAny && clients.trusts(addressOf(peer));

  /** The id that a trusted proxy gave the request, or a new one. No other client can choose it. */
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
    /** The origin of the server as the client sees it. */
    originOf(request: Request): string {
      const { url, peer } = of(request);
      return isTrusted(peer) ? forwardedOriginOf(url, request.headers) : originOf(url);
    },
  };
}

function addressOf(peer: Peer): string | undefined {
  return typeof peer === "function" ? peer() : peer;
}
