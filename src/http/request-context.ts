/**
 * Keeps the context of each request, such as its peer, id and start time, by `Request` object, the
 * only thing that all Elysia hooks share.
 */
import type { Clients } from "../limit/client-address.ts";
import type { Decision } from "../limit/limiter.ts";
import { forwardedOriginOf, originOf } from "./request.ts";

/** The ids that are safe in logs and headers. Spaces, quotes and non-ASCII are not. */
const REQUEST_ID = /^[\w.~+/=:@-]{1,128}$/;

/** An address, or a function that is called only when the address is needed. */
export type Peer = string | (() => string | undefined) | undefined;

/** The facts about a response for logs and metrics. None of them can contain a person's name. */
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
   * Returns the client that searches are counted for: an IPv4 address or an IPv6 network. Call it
   * synchronously, because a runtime knows the address only until the response is sent.
   */
  client(): string;
}

export interface RequestContext {
  peer: Peer;
  /** The URL and method as the client or a proxy sent them. `toRoutable` may change both. */
  url: string;
  method: string;
  headers: Headers;
  requestId: string;
  startMs: number;
  decision: Decision | undefined;
}

export type RequestContexts = ReturnType<typeof createRequestContexts>;

/** `defaultPeer` is the peer assumed for requests without one. */
export function createRequestContexts(clients: Clients, defaultPeer: string | undefined) {
  const contexts = new WeakMap<Request, RequestContext>();

  /** Starts the context of a request that Elysia gets in place of `sent`. */
  function start(request: Request, sent = request, peer: Peer = defaultPeer): RequestContext {
    const { url, method, headers } = sent;
    const requestId = requestIdOf(headers, peer);
    const startMs = performance.now();
    const context = { peer, url, method, headers, requestId, startMs, decision: undefined };
    contexts.set(request, context);
    return context;
  }

  /** A request that arrived through a host's app has no context yet, so `of` starts one. */
  const of = (request: Request): RequestContext => contexts.get(request) ?? start(request);

  const isTrusted = (peer: Peer) => clients.trustsAny && clients.trusts(addressOf(peer));

  /** The id that a trusted proxy gave the request, or a new id. No other client can choose one. */
  function requestIdOf(headers: Headers, peer: Peer): string {
    const given = clients.trustsAny ? headers.get("x-request-id") : null;
    const isUsed = given !== null && REQUEST_ID.test(given) && isTrusted(peer);
    return isUsed ? given : crypto.randomUUID();
  }

  return {
    start,
    of,
    /** Returns the key under which the client's searches are counted. */
    clientOf: ({ peer, headers }: RequestContext): string =>
      clients.keyOf(addressOf(peer), headers.get("x-forwarded-for")),
    /** Whether the client's searches are not counted. */
    isUnlimited: ({ peer, headers }: RequestContext): boolean =>
      clients.isUnlimited(addressOf(peer), headers.get("x-forwarded-for")),
    /** The server's origin as the client sees it. */
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
 * The peer of `request`. `from` is an address, a function that returns an address, or the argument
 * that a runtime passes. Any other value means that there is no peer. All requests for which a
 * function finds no address are treated as one client. Nothing here throws, whatever `from` is.
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

function finder(find: () => unknown): () => string | undefined {
  return () => {
    try {
      const found = find();
      return typeof found === "string" && found !== "" ? found : undefined;
    } catch {
      return undefined;
    }
  };
}
