/**
 * Keeps the facts about each request that its `Request` does not have: the peer, the client, the id,
 * the start, and the origin for links.
 */
import { LRUCache } from "lru-cache";
import { type Client, type Clients, isAddress } from "../limit/client-address.ts";
import type { Decision } from "../limit/decision.ts";
import { LOCAL_ORIGIN, pathStart } from "./url.ts";

/** An address, or a function that is called only when the address is needed. */
export type Peer = string | (() => string | undefined) | undefined;

/** The ids that are safe in logs and headers. */
export const REQUEST_ID = /^[\w.~+/=:@-]{1,128}$/;

/** The peer and the headers, which identify the client of a request. */
interface Sender {
  peer: Peer;
  headers: Headers;
}

/** The facts about a request that the `Request` which Elysia gets does not have. */
export interface RequestContext extends Sender {
  /** The URL and method as they were sent, which may differ from those that Elysia gets. */
  url: string;
  method: string;
  requestId: string;
  /** When the request arrived, on the monotonic clock. */
  startMs: number;
  /** The decision of the search limit. Undefined if the request was not counted. */
  decision: Decision | undefined;
  /** The headers that tell the client of the decision. */
  limitHeaders: Record<string, string> | undefined;
  /** Whether another handler gets the request if there is nothing at its path. */
  hasNext: boolean;
  /** Whether there is nothing at the path. False until that is known. */
  isUnknownPath: boolean;
  /** Whether shared caches may store the response: not if its links have a host that came in a header. */
  isShareable: boolean;
  /** Whether a fault drops the connection instead of a response. False until it does. */
  isDropped: boolean;
}

/** A part of the app's options. */
interface ContextOptions {
  clients: Clients;
  defaultPeer?: Peer;
  publicUrl: string | undefined;
  basePath: string;
  onSharedBudget?: ((cause: SharedBudget) => void) | undefined;
}

/**
 * Why many clients share one search budget: X-Forwarded-For comes from a proxy that is not trusted,
 * or another header names other clients than X-Forwarded-For does.
 */
export type SharedBudget = "X-Forwarded-For" | (typeof CLIENT_HEADERS)[number];

/** Set to the client's address by proxies in front of the trusted one. */
const CLIENT_HEADERS = [
  "CF-Connecting-IP",
  "True-Client-IP",
  "Fastly-Client-IP",
  "X-Real-IP",
] as const;

export type RequestContexts = ReturnType<typeof createContexts>;

/** Keeps the context of each request by its `Request`, the only object that all hooks share. */
export function createContexts(options: ContextOptions) {
  const { clients, defaultPeer, publicUrl, basePath } = options;
  const contexts = new WeakMap<Request, RequestContext>();
  /** Undefined after its only call. */
  let { onSharedBudget } = options;

  const isTrustedPeer = (peer: Peer) => clients.trustsAny && clients.trusts(addressOf(peer));

  function clientOf({ peer, headers }: Sender): Client {
    return clients.clientOf(addressOf(peer), headers.get("x-forwarded-for"));
  }

  /** Finds a header that names another client than the one that is counted. */
  function findOtherClient(sender: Sender): SharedBudget | undefined {
    return CLIENT_HEADERS.find((name) => {
      const address = sender.headers.get(name);
      if (address === null || !isAddress(address)) return false;
      return clients.clientOf(address, null).key !== clientOf(sender).key;
    });
  }

  function reportSharedBudget(sender: Sender, isTrusted: boolean): void {
    const cause = isTrusted
      ? findOtherClient(sender)
      : sender.headers.has("x-forwarded-for") && "X-Forwarded-For";
    if (!cause) return;

    onSharedBudget?.(cause);
    onSharedBudget = undefined;
  }

  /** Elysia gets `routable` instead of `request`. */
  function start(request: Request, peer: Peer = defaultPeer, routable = request): RequestContext {
    const { url, method, headers } = request;
    const isTrusted = isTrustedPeer(peer);
    if (onSharedBudget) reportSharedBudget({ peer, headers }, isTrusted);

    const context: RequestContext = {
      peer,
      url,
      method,
      headers,
      requestId: requestIdOf(headers, isTrusted),
      startMs: performance.now(),
      decision: undefined,
      limitHeaders: undefined,
      hasNext: false,
      isUnknownPath: false,
      isShareable: !isTrusted || publicUrl !== undefined || !headers.has("x-forwarded-host"),
      isDropped: false,
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
    /** The base URL for links in the response. */
    baseUrlOf(request: Request): string {
      if (publicUrl !== undefined) return publicUrl;
      const { url, peer, headers } = of(request);
      const origin = isTrustedPeer(peer) ? forwardedOriginOf(url, headers) : ownOriginOf(url);
      return origin + basePath;
    },
  };
}

/** Requests whose peer is a function that finds no address all count as one client. */
function addressOf(peer: Peer): string | undefined {
  try {
    const address: unknown = typeof peer === "function" ? peer() : peer;
    return typeof address === "string" && address !== "" ? address : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The peer of `request`. `from` is an address, a function that returns one, or the argument that a
 * runtime passes. With anything else there is no peer. Never throws, whatever `from` is.
 */
export function peerOf(request: Request, from: unknown): Peer {
  if (typeof from === "string") return from || undefined;
  if (typeof from === "function") return () => from();
  try {
    const { requestIP, remoteAddr, incoming } = Object(from);
    // Bun passes its server, Deno an info object, and Hono on Node its env.
    if (typeof requestIP === "function") return () => requestIP.call(from, request)?.address;
    if (remoteAddr) return () => remoteAddr.hostname;
    return incoming ? () => incoming.socket?.remoteAddress : undefined;
  } catch {
    return undefined;
  }
}

/** A new id, or the one that a trusted proxy has sent. */
function requestIdOf(headers: Headers, isTrusted: boolean): string {
  const given = isTrusted ? headers.get("x-request-id") : null;
  return given !== null && REQUEST_ID.test(given) ? given : crypto.randomUUID();
}

/** Parsing a URL takes longer than reading a profile, and most requests are for the same host. */
const origins = new LRUCache<string, string>({
  max: 100,
  memoMethod(url) {
    const origin = URL.parse(url)?.origin;
    // The origin of a URL with an unknown scheme is the text "null".
    return origin?.startsWith("http") ? origin : LOCAL_ORIGIN;
  },
});

function ownOriginOf(url: string): string {
  const start = pathStart(url);
  return origins.memo(start < 0 ? url : url.slice(0, start));
}

/** The origin in X-Forwarded-Proto and -Host. Ignores malformed values. */
function forwardedOriginOf(url: string, headers: Headers): string {
  const [, ownScheme = "http", ownHost = "localhost"] = /^(https?):\/\/([^/]*)/.exec(url) ?? [];
  // The rightmost value of each list counts.
  const proto = /(?:^|,)\s*(https?)\s*$/i.exec(headers.get("x-forwarded-proto") ?? "")?.[1];
  const host = /(?:^|,)\s*([\w.:[\]-]+)\s*$/.exec(headers.get("x-forwarded-host") ?? "")?.[1];
  const scheme = proto ?? ownScheme;
  // Not every value of this form is a host, such as one with the port 99999.
  const forwarded = host === undefined ? null : URL.parse(`${scheme}://${host}/`);
  return forwarded?.origin ?? ownOriginOf(`${scheme}://${ownHost}/`);
}
