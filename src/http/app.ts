/**
 * The whole HTTP side as one function from request to response, and the only place that has an
 * order: route, method, limit, handler, response, metrics.
 */
import type { Clients } from "../limit/client-address.ts";
import type { Decision } from "../limit/limiter.ts";
import { type Context, originOf } from "./context.ts";
import { ALLOWED_METHODS, preflightHeaders } from "./cors.ts";
import { failLimited, setRateLimitHeaders } from "./rate-limit.ts";
import { isRequestId, pathOf } from "./request.ts";
import { createRespond } from "./response.ts";
import { fail, type Result } from "./result.ts";
import { createRouter, type Match, type RouterOptions } from "./router.ts";

export interface AppOptions extends RouterOptions {
  clients: Clients;
  /** How long a cache may use a response without asking again; 0 for not at all. */
  cacheMaxAgeSeconds: number;
  /** Gets every bug that became a 500. */
  onBug(error: unknown, requestId: string): void;
  /** Gets the facts of every response when it is made. */
  onResponse?: ((facts: ResponseFacts) => void) | undefined;
  /** The peer of requests that come without one; without it, their searches are not counted. */
  defaultPeer?: string | undefined;
  /** Stands in for a handler now and then, in test rigs. */
  interfere?: Interfere | undefined;
}

/**
 * What a route responds with in place of its own, if anything: a result, or "close" for none at all.
 * `decision` is there for a search under a limit.
 */
export type Interfere = (
  route: string,
  decision: Decision | undefined,
) => Interference | Promise<Interference>;

type Interference = Result | "close" | undefined;

/** What logs and metrics may say of a response: of the request, nothing that may be a name. */
export interface ResponseFacts {
  requestId: string;
  method: string;
  /** Such as `/users/public/:userId`, also under /api; undefined for a path that is not known. */
  route: string | undefined;
  status: number;
  /** Whether the page asked for it on behalf of a client, who gets another response. */
  isInner: boolean;
  /** Whether this was a search under a limit, and the decision. */
  search: "allowed" | "refused" | undefined;
  /** From the request's head to the response's, before it is sent. */
  durationMs: number;
  /** Who is counted: an IPv4 address or an IPv6 network. To be asked for at once, or not at all. */
  client(): string;
}

/**
 * The address a request came from, or how to find out: it is not always needed. Who finds nothing is
 * one client with all the others; without a peer, a request comes from within the program.
 */
export type Peer = string | undefined | (() => string | undefined);

/** Responds to a request: at once, when nothing has to be waited for. Never throws, never rejects. */
export type Fetch = (request: Request, peer?: Peer) => Response | Promise<Response>;

/** A request with what is known of it so far. */
interface Exchange {
  request: Request;
  peer: Peer;
  requestId: string;
  isInner: boolean;
  startMs: number;
  match: Match | undefined;
  /** Where this is a search under a limit. */
  decision: Decision | undefined;
}

export function createFetch(options: AppOptions): Fetch {
  const { searchLimit, clients, onBug, onResponse, interfere } = options;
  const router = createRouter(options);
  const respond = createRespond({
    maxAgeSeconds: options.cacheMaxAgeSeconds,
    isIndexed: options.page?.isIndexed ?? false,
  });

  function resultOf(exchange: Exchange): Result | "close" | Promise<Result | "close"> {
    const { request, peer } = exchange;
    const match = router.find(pathOf(request.url));
    exchange.match = match;
    if (!match) return fail("route_not_found");
    if (!isRead(request)) return resultOfOtherMethod(request);
    if (!searchLimit || !match.route.limited || peer === undefined) return handle(exchange, match);
    return next(searchLimit.limiter.consume(clientOf(exchange)), (decision) => {
      exchange.decision = decision;
      return decision.allowed ? handle(exchange, match) : failLimited(decision);
    });
  }

  function handle(exchange: Exchange, match: Match): ReturnType<typeof resultOf> {
    const read = () => router.handle(match, exchange.request, askFor(exchange));
    if (!interfere) return read();
    return next(interfere(match.route.name, exchange.decision), (result) => result ?? read());
  }

  function respondTo(exchange: Exchange): Response | Promise<Response> {
    const { request } = exchange;
    return next(resultOf(exchange), (result) => {
      if (result === "close" && request.method === "GET") return brokenResponse();
      return respond(
        request,
        result === "close" ? fail("internal_error") : result,
        isRead(request) && exchange.match ? exchange.match.route.cache : "none",
      );
    });
  }

  /** A response, or the 500 that stands for it when it fails, now or later. */
  function guard(exchange: Exchange): Response | Promise<Response> {
    const respondToBug = (error: unknown) => {
      onBug(error, exchange.requestId);
      return respond(exchange.request, fail("internal_error"), "none");
    };
    try {
      const response = respondTo(exchange);
      return response instanceof Promise ? response.catch(respondToBug) : response;
    } catch (error) {
      return respondToBug(error);
    }
  }

  function finish(exchange: Exchange, response: Response): Response {
    const { request, requestId, isInner, match, decision, startMs } = exchange;
    const { status, headers } = response;
    headers.set("x-request-id", requestId);
    if (searchLimit && decision) setRateLimitHeaders(headers, searchLimit, decision);
    onResponse?.({
      requestId,
      isInner,
      method: request.method,
      route: match?.route.path,
      status,
      search: decision && (decision.allowed ? "allowed" : "refused"),
      durationMs: performance.now() - startMs,
      client: () => clientOf(exchange),
    });
    return response;
  }

  /** Whom the exchange is for stays the same; what the page itself was asked for does not matter. */
  function askFor({ request, peer, requestId }: Exchange): Context["ask"] {
    return async (path) => {
      const headers = new Headers();
      const forwardedFor = request.headers.get("x-forwarded-for");
      if (forwardedFor !== null) headers.set("x-forwarded-for", forwardedFor);
      const inner = new Request(originOf(request.url) + path, { headers });
      return respondAs(inner, peer, requestId, true);
    };
  }

  function clientOf({ request, peer }: Exchange): string {
    return clients.keyOf(addressOf(peer), request.headers.get("x-forwarded-for"));
  }

  /** A proxy that is trusted has named the request already; anyone else's name is not used. */
  function requestIdOf({ headers }: Request, peer: Peer): string {
    const given = clients.trustsAny ? headers.get("x-request-id") : null;
    return given !== null && isRequestId(given) && clients.trusts(addressOf(peer))
      ? given
      : crypto.randomUUID();
  }

  function respondAs(
    request: Request,
    peer: Peer,
    requestId: string,
    isInner: boolean,
  ): Response | Promise<Response> {
    const exchange: Exchange = {
      request,
      peer,
      requestId,
      isInner,
      startMs: performance.now(),
      match: undefined,
      decision: undefined,
    };
    return next(guard(exchange), (response) => finish(exchange, response));
  }

  return (request, peer = options.defaultPeer) =>
    respondAs(request, peer, requestIdOf(request, peer), false);
}

/**
 * Its body fails before its first byte, upon which a server closes the connection without a response;
 * without a reason, as Bun would print it each time. Of a HEAD, Bun sends the head all the same.
 */
function brokenResponse(): Response {
  return new Response(new ReadableStream({ start: (controller) => controller.error() }));
}

function isRead({ method }: Request): boolean {
  return method === "GET" || method === "HEAD";
}

/** A known path says what it takes instead; an unknown one is unknown by any method. */
function resultOfOtherMethod({ method }: Request): Result {
  const allow = { allow: ALLOWED_METHODS };
  return method === "OPTIONS"
    ? { status: 204, type: "", body: null, headers: { ...preflightHeaders, ...allow } }
    : { ...fail("method_not_allowed"), headers: allow };
}

/** What follows, without a wait where there is none: a wait is a microsecond or two. */
function next<Value, Then>(
  value: Value | Promise<Value>,
  then: (value: Value) => Then | Promise<Then>,
): Then | Promise<Then> {
  return value instanceof Promise ? value.then(then) : then(value);
}

function addressOf(peer: Peer): string | undefined {
  return typeof peer === "function" ? peer() : peer;
}
