/**
 * Takes every request before Elysia does: finds its peer, starts its context, and rewrites what Elysia
 * cannot route.
 */
import type { Client } from "../limit/client-address.ts";
import { apiUrlPattern } from "./endpoints.ts";
import { busy } from "./errors.ts";
import type { Peer, RequestContexts } from "./request-context.ts";
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
 * Rewrites a request if its host is too short for Elysia, its path has the base path, its URL has a
 * fragment, or its method is HEAD, for which Elysia would read the whole body to find its length.
 */
function toRoutable(request: Request, basePath: string): Request {
  const { method, headers } = request;
  const [url = ""] = request.url.split("#");
  const start = pathStart(url);
  const isHostShort = start < MIN_PATH_START;
  const isHead = method === "HEAD";
  const mayBeUnderBase = basePath !== "" && url.startsWith(basePath, start);
  const hasFragment = url !== request.url;
  if (!isHostShort && !isHead && !mayBeUnderBase && !hasFragment) return request;

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
