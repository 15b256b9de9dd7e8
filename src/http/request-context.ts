/**
 * The context of a request: the facts that its `Request` does not have, such as the peer. Decides which
 * client a request counts for.
 */
import { type Client, type Clients, isAddress } from "../limit/client-address.ts";
import type { Decision } from "../limit/limiter.ts";

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
  /** Nothing is left to report if there is no function to call. */
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
  const sentId = isTrusted ? headers.get("x-request-id") : null;
  return sentId !== null && REQUEST_ID.test(sentId) ? sentId : crypto.randomUUID();
}
