/**
 * The whole HTTP side as one function from request to response, and the only place that has an
 * order: route, method, limit, handler, response, metrics.
 */
import type { Clients } from "../limit/client-address.ts";
import type { Decision } from "../limit/limiter.ts";
import { SpoiledSnapshot } from "../snapshot/read/open.ts";
import { isDecidedByUrl } from "./caching.ts";
import type { Service } from "./context.ts";
import { ALLOWED_METHODS, preflightHeaders } from "./cors.ts";
import { failLimited, setRateLimitHeaders } from "./rate-limit.ts";
import { isRequestId, originOf, pathOf } from "./request.ts";
import { createRespond } from "./response.ts";
import { fail, type Result } from "./result.ts";
import { type Cached, createResultCache } from "./result-cache.ts";
import { createRouter, type Match } from "./router.ts";
import { routesWith } from "./routes.ts";

interface AppOptions extends Service {
  clients: Clients;
  /** How long a cache may use a response without asking again; 0 for not at all. */
  cacheMaxAgeSeconds: number;
  /** Gets every bug that became a 500, and every error of `onResponse`. */
  onBug(error: unknown, requestId: string): void;
  /** Gets the facts of every response when it is made. */
  onResponse?: ((facts: ResponseFacts) => void) | undefined;
  /** The peer of requests that come without one; without it, their searches are not counted. */
  defaultPeer?: string | undefined;
  /** Stands in for a handler now and then, in test rigs. */
  interfere?: Interfere | undefined;
}

/** What a route responds with in place of its own, if anything: a result, or "close" for none at all. */
export type Interfere = (route: string) => Outcome | undefined | Promise<Outcome | undefined>;

type Outcome = Result | "close";

/** The `Retry-After` of a fault: short enough for a test. */
export const FAULT_RETRY_MS = 1000;

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

export function createFetch(options: AppOptions): Fetch {
  const { searchLimit, clients, onBug, onResponse, interfere } = options;
  const findRoute = createRouter(routesWith(options));
  const results = createResultCache(options.snapshot);
  const respond = createRespond(options.cacheMaxAgeSeconds, options.page?.isIndexed ?? false);

  /** Responds to a request of a client, or to one that the page makes for it. */
  function exchange(
    request: Request,
    peer: Peer,
    requestId: string,
    isInner: boolean,
  ): Response | Promise<Response> {
    const startMs = performance.now();
    const { method, url } = request;
    const isRead = method === "GET" || method === "HEAD";
    const forwardedFor = () => request.headers.get("x-forwarded-for");
    const client = () => clients.keyOf(addressOf(peer), forwardedFor());
    let match: Match | undefined;
    let decision: Decision | undefined;

    function outcome(): Outcome | Promise<Outcome> {
      if (options.isClosed()) return fail("unavailable");
      const cached = results.find(url);
      const found = cached?.match ?? findRoute(pathOf(url));
      match = found;
      if (!found) return fail("route_not_found");
      if (!isRead) return method === "OPTIONS" ? preflight : methodNotAllowed;
      if (!searchLimit || !found.route.limited || peer === undefined) return handle(found, cached);
      return next(searchLimit.limiter.consume(client()), (made) => {
        decision = made;
        return made.allowed ? handle(found) : failLimited(made);
      });
    }

    function handle(found: Match, cached?: Cached): Outcome | Promise<Outcome> {
      if (!interfere) return cached?.result ?? read(found);
      return next(interfere(found.route.name), (fault) => {
        if (decision && typeof fault === "object" && fault.status === 429)
          decision = { ...decision, allowed: false, remaining: 0, resetMs: FAULT_RETRY_MS };
        return fault ?? read(found);
      });
    }

    function read(found: Match): Result | Promise<Result> {
      const { route, params } = found;
      // The service may have been closed during a wait.
      if (options.isClosed()) return fail("unavailable");
      const result = route.handler({ request, params, service: options, ask });
      // A cached search is faster, which would tell a client that another has made it.
      if (isDecidedByUrl(route.cache) && !route.limited) results.add(url, found, result);
      return result;
    }

    /** Whom it is for stays the same; what the page itself was asked for does not matter. */
    async function ask(path: string): Promise<Response> {
      const hops = forwardedFor();
      const headers = new Headers(hops === null ? {} : { "x-forwarded-for": hops });
      const inner = new Request(originOf(url) + path, { headers });
      return exchange(inner, peer, requestId, true);
    }

    function toResponse(outcome: Outcome): Response {
      if (outcome === "close" && method === "GET") return brokenResponse();
      const result = outcome === "close" ? fail("internal_error") : outcome;
      return respond(request, result, match && isRead ? match.route.cache : "none", isInner);
    }

    function report(error: unknown): void {
      try {
        onBug(error, requestId);
      } catch {
        // There is nowhere left to report it, and the client still gets its response.
      }
    }

    function respondToError(error: unknown): Response {
      if (error instanceof SpoiledSnapshot)
        return respond(request, fail("unavailable"), "none", isInner);
      report(error);
      return respond(request, fail("internal_error"), "none", isInner);
    }

    function finish(response: Response): Response {
      const { status, headers } = response;
      headers.set("x-request-id", requestId);
      if (searchLimit && decision) setRateLimitHeaders(headers, searchLimit, decision);
      try {
        onResponse?.({
          requestId,
          isInner,
          method,
          route: match?.route.path,
          status,
          search: decision && (decision.allowed ? "allowed" : "refused"),
          durationMs: performance.now() - startMs,
          client,
        });
      } catch (error) {
        report(error);
      }
      return response;
    }

    let response: Response | Promise<Response>;
    try {
      response = next(outcome(), toResponse);
      if (response instanceof Promise) response = response.catch(respondToError);
    } catch (error) {
      response = respondToError(error);
    }
    return next(response, finish);
  }

  /** A proxy that is trusted has named the request already; anyone else's name is not used. */
  function requestIdOf({ headers }: Request, peer: Peer): string {
    const given = clients.trustsAny ? headers.get("x-request-id") : null;
    return given !== null && isRequestId(given) && clients.trusts(addressOf(peer))
      ? given
      : crypto.randomUUID();
  }

  return (request, peer = options.defaultPeer) =>
    exchange(request, peer, requestIdOf(request, peer), false);
}

/**
 * Its body fails before its first byte, upon which a server closes the connection without a response;
 * without a reason, as Bun would print it each time. Of a HEAD, Bun sends the head all the same.
 */
function brokenResponse(): Response {
  return new Response(new ReadableStream({ start: (controller) => controller.error() }));
}

/** A known path says what it takes; an unknown one is unknown by any method. */
const allow = { allow: ALLOWED_METHODS };
const preflight = { status: 204, type: "", body: null, headers: { ...preflightHeaders, ...allow } };
export const methodNotAllowed = { ...fail("method_not_allowed"), headers: allow };

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
