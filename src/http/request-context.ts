/**
 * Keeps the context of each request, keyed by its `Request`, the only object that all hooks share.
 */
import type { Clients } from "../limit/client-address.ts";
import type { Decision } from "../limit/limiter.ts";
import { forwardedOriginOf, originOf } from "./request.ts";

/** The ids that are safe in logs and headers. */
const REQUEST_ID = /^[\w.~+/=:@-]{1,128}$/;

/** An address, or a function that is called only when the address is needed. */
export type Peer = string | (() => string | undefined) | undefined;

/** Facts about a response for logs and metrics. None of them can contain a person's name. */
export interface ResponseFacts {
  requestId: string;
  method: string;
  /** The path template without /api, such as `/users/public/:userId`, unless it is unknown. */
  route: string | undefined;
  status: number;
  /** The search limit's decision; undefined if the request was not counted. */
  search: "allowed" | "refused" | undefined;
  /** From receiving the request headers until the response is ready to send. */
  durationMs: number;
  /**
   * The IPv4 address or IPv6 network that searches are counted for. Call this synchronously: a
   * runtime knows the address only until the response is sent.
   */
  client(): string;
}

export type RequestContexts = ReturnType<typeof createRequestContexts>;

export function createRequestContexts(clients: Clients, defaultPeer: string | undefined) {
  type RequestContext = ReturnType<typeof start>;
  const contexts = new WeakMap<Request, RequestContext>();

  /** Elysia gets `request` instead of `sent`. Their URLs and methods may differ. */
  function start(request: Request, sent = request, peer: Peer = defaultPeer) {
    const { url, method, headers } = sent;
    const requestId = requestIdOf(headers, peer);
    const startMs = performance.now();
    const decision = undefined as Decision | undefined;
    const context = { peer, url, method, headers, requestId, startMs, decision };
    contexts.set(request, context);
    return context;
  }

  /** A request that arrived through a host's app has no context yet, so `of` starts one. */
  const of = (request: Request): RequestContext => contexts.get(request) ?? start(request);

  const isTrusted = (peer: Peer) => clients.trustsAny && clients.trusts(addressOf(peer));

  function requestIdOf(headers: Headers, peer: Peer): string {
    const given = clients.trustsAny ? headers.get("x-request-id") : null;
    const isUsed = given !== null && REQUEST_ID.test(given) && isTrusted(peer);
    return isUsed ? given : crypto.randomUUID();
  }

  return {
    start,
    of,
    /** Returns the key under which the client's searches are counted. */
    clientOf: ({ peer, headers }: Pick<RequestContext, "peer" | "headers">): string =>
      clients.keyOf(addressOf(peer), headers.get("x-forwarded-for")),
    /** Whether all clients of an untrusted proxy count as one. */
    hidesClients: ({ peer, headers }: Pick<RequestContext, "peer" | "headers">): boolean =>
      headers.has("x-forwarded-for") && !clients.trusts(addressOf(peer)),
    isUnlimited: ({ peer, headers }: RequestContext): boolean =>
      clients.isUnlimited(addressOf(peer), headers.get("x-forwarded-for")),
    originOf(request: Request): string {
      const { url, peer, headers } = of(request);
      return isTrusted(peer) ? forwardedOriginOf(url, headers) : originOf(url);
    },
  };
}

function addressOf(peer: Peer): string | undefined {
  return typeof peer === "function" ? peer() : peer;
}

/**
 * The peer of `request`. `from` is an address, a function that returns one, or the argument that a
 * runtime passes. With anything else there is no peer. Never throws, whatever `from` is.
 */
export function peerOf(request: Request, from: unknown): Peer {
  if (typeof from === "string") return from || undefined;
  if (typeof from === "function") return finder(() => from());
  try {
    const { requestIP, remoteAddr, incoming } = Object(from);
    // Bun passes its server, Deno an info object, and Hono on Node its env.
    if (typeof requestIP === "function") {
      return finder(() => requestIP.call(from, request)?.address);
    }
    if (remoteAddr) return finder(() => remoteAddr.hostname);
    return incoming ? finder(() => incoming.socket?.remoteAddress) : undefined;
  } catch {
    return undefined;
  }
}

/** If a function finds no address, all such requests count as one client. */
function finder(find: () => unknown): () => string | undefined {
  return () => {
    try {
      const found = find();
      return typeof found === "string" ? found || undefined : undefined;
    } catch {
      return undefined;
    }
  };
}
