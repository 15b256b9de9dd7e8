/** Keeps the facts about a request that its `Request` does not have, and what follows from them. */
import { LRUCache } from "lru-cache";
import { type Client, isAddress } from "../limit/client-address.ts";
import type { Decision } from "../limit/limiter.ts";
import type { AppOptions } from "./app-options.ts";
import { LOCAL_ORIGIN, pathStart } from "./url.ts";

/** An address, or a function that is called only when the address is needed. */
export type Peer = string | (() => string | undefined) | undefined;

/** The facts that identify the client of a request. */
interface Sender {
  /** As it was sent. The one that Elysia gets may have another URL and method. */
  request: Request;
  peer: Peer;
}

export interface RequestContext extends Sender {
  requestId: string;
  /** When the request arrived, on the monotonic clock. */
  startMs: number;
  /** The decision of the search limit. Undefined if the request was not counted. */
  decision: Decision | undefined;
  /** Whether shared caches may store the response: not if its links have a host that came in a header. */
  isShareable: boolean;
  /** Whether a fault drops the connection instead of a response. False until it does. */
  isDropped: boolean;
}

/** The ids that are safe in logs and headers. */
export const REQUEST_ID = /^[\w.~+/=:@-]{1,128}$/;

/** Set to the client's address by proxies in front of the trusted one. */
const CLIENT_HEADERS = ["CF-Connecting-IP", "True-Client-IP", "Fastly-Client-IP", "X-Real-IP"];

export type RequestContexts = ReturnType<typeof createContexts>;

/** Keeps the context of each request by its `Request`, the only object that all hooks share. */
export function createContexts(options: AppOptions) {
  const { clients, defaultPeer, publicUrl, basePath } = options;
  const contexts = new WeakMap<Request, RequestContext>();
  /** Undefined after its only call. */
  let { onSharedBudget } = options;

  const isTrustedPeer = (peer: Peer) => clients.trustsAny && clients.trusts(addressOf(peer));

  function clientOf({ request, peer }: Sender): Client {
    return clients.clientOf(addressOf(peer), request.headers.get("x-forwarded-for"));
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
    const isTrusted = isTrustedPeer(peer);
    const header = onSharedBudget && findSharingHeader({ request, peer }, isTrusted);
    if (header) {
      onSharedBudget?.(header);
      onSharedBudget = undefined;
    }

    const context: RequestContext = {
      request,
      peer,
      requestId: requestIdOf(headers, isTrusted),
      startMs: performance.now(),
      decision: undefined,
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
      const { request: sent, peer } = of(request);
      const origin = isTrustedPeer(peer) ? forwardedOriginOf(sent) : ownOriginOf(sent.url);
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
function forwardedOriginOf({ url, headers }: Request): string {
  const [, ownScheme = "http", ownHost = "localhost"] = /^(https?):\/\/([^/]*)/.exec(url) ?? [];
  // The rightmost value of each list counts.
  const proto = /(?:^|,)\s*(https?)\s*$/i.exec(headers.get("x-forwarded-proto") ?? "")?.[1];
  const host = /(?:^|,)\s*([\w.:[\]-]+)\s*$/.exec(headers.get("x-forwarded-host") ?? "")?.[1];
  const scheme = proto ?? ownScheme;
  // Not every value of this form is a host, such as one with the port 99999.
  const forwarded = host === undefined ? null : URL.parse(`${scheme}://${host}/`);
  return forwarded?.origin ?? ownOriginOf(`${scheme}://${ownHost}/`);
}
