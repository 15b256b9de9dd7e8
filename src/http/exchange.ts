/**
 * What is known of a request beside the request itself: who sent it, its id, when it came, and what
 * the limit decided. Kept by the `Request`, as hooks of Elysia have nothing else in common.
 */
import type { Clients } from "../limit/client-address.ts";
import type { Decision } from "../limit/limiter.ts";
import type { Peer } from "./peer.ts";
import { forwardedOriginOf, isRequestId, originOf } from "./request.ts";

/** What logs and metrics may say of a response: nothing of the request that may be a name. */
export interface ResponseFacts {
  requestId: string;
  method: string;
  /** Such as `/users/public/:userId`, also under /api; undefined for a path that is not known. */
  route: string | undefined;
  status: number;
  /** Whether the page asked for it on behalf of a client, who gets another response. */
  isSubrequest: boolean;
  /** Whether this was a search under a limit, and the decision. */
  search: "allowed" | "refused" | undefined;
  /** From the request's head to the response's, before it is sent. */
  durationMs: number;
  /** The client that is counted: an IPv4 address or an IPv6 network. To be asked for at once. */
  client(): string;
}

export interface Exchange {
  peer: Peer;
  /** As the client, or a proxy, sent it: that of the request that Elysia gets may be another. */
  url: string;
  requestId: string;
  /** The client's, which the request that Elysia gets may not have: see toRoutable. */
  method: string;
  isSubrequest: boolean;
  startMs: number;
  decision: Decision | undefined;
}

type Beginning = Partial<Pick<Exchange, "peer" | "url" | "requestId" | "method" | "isSubrequest">>;

export type Exchanges = ReturnType<typeof createExchanges>;

/** `defaultPeer` is that of requests that come without one. */
export function createExchanges(clients: Clients, defaultPeer: string | undefined) {
  const exchanges = new WeakMap<Request, Exchange>();

  function begin(
    request: Request,
    {
      peer = defaultPeer,
      url = request.url,
      requestId,
      method = request.method,
      isSubrequest = false,
    }: Beginning = {},
  ): Exchange {
    const exchange = {
      peer,
      url,
      requestId: requestId ?? requestIdOf(request, peer),
      method,
      isSubrequest,
      startMs: performance.now(),
      decision: undefined,
    };
    exchanges.set(request, exchange);
    return exchange;
  }

  /** A request that the app of another program hands on has not begun yet. */
  const of = (request: Request): Exchange => exchanges.get(request) ?? begin(request);

  const comesFromProxy = (peer: Peer) => clients.trustsAny && clients.trusts(addressOf(peer));

  /** A proxy that is trusted has named the request already; a name from anyone else is not used. */
  function requestIdOf({ headers }: Request, peer: Peer): string {
    const given = clients.trustsAny ? headers.get("x-request-id") : null;
    return given !== null && isRequestId(given) && comesFromProxy(peer)
      ? given
      : crypto.randomUUID();
  }

  return {
    begin,
    of,
    clientOf: (request: Request, { peer }: Exchange): string =>
      clients.keyOf(addressOf(peer), request.headers.get("x-forwarded-for")),
    /** Whether the client is on the machine of the server. */
    isLocal: (request: Request, { peer }: Exchange): boolean =>
      clients.isLocal(addressOf(peer), request.headers.get("x-forwarded-for")),
    /** The server as the client calls it. */
    originOf(request: Request): string {
      const { url, peer } = of(request);
      return comesFromProxy(peer) ? forwardedOriginOf(url, request.headers) : originOf(url);
    },
  };
}

function addressOf(peer: Peer): string | undefined {
  return typeof peer === "function" ? peer() : peer;
}
