/**
 * The whole HTTP side as one function from request to response, and the only place that has an
 * order: what holds for every answer (method, limit, headers) is around the routes, which know only
 * their own subject.
 */
import type { Clients } from "../limit/client.ts";
import { type ApiRoute, isApiRoute, isSearchRoute } from "./caching.ts";
import { PAGE_POLICY } from "./docs.ts";
import { refuse, type SearchLimit, setRateLimitHeaders } from "./rate-limit.ts";
import { createRepresentations, type RepresentationsOptions } from "./representations.ts";
import { isRequestId, pathOf } from "./request.ts";
import { commonHeaders, fail } from "./response.ts";
import { createRouter, type RouterOptions } from "./router.ts";

export interface AppOptions extends RouterOptions, Omit<RepresentationsOptions, "render"> {
  /** What each client may search; without it, anything. */
  searchLimit: SearchLimit | undefined;
  clients: Clients;
  /** Told of every bug that became a 500. */
  onBug(error: unknown, requestId: string): void;
  /** Told of every answer when it is made. */
  onAnswer?: ((answered: Answered) => void) | undefined;
}

/** What is told of an answer: of the request, nothing that may be a name. */
export interface Answered {
  requestId: string;
  method: string;
  /** Such as `/users/public/:userId`, also under /api; undefined for a path that is not known. */
  route: string | undefined;
  status: number;
  /** Whether this was a search under a limit, and what came of it. */
  search: "allowed" | "refused" | undefined;
  /** From the request's head to the answer's, before it is sent. */
  durationMs: number;
  /** Who is counted: an IPv4 address or an IPv6 network. To be asked for at once, or not at all. */
  client(): string;
}

/** The address a request came from, or how to find out: it is not always needed. */
export type Peer = string | undefined | (() => string | undefined);

/** Answers a request: at once, when nothing has to be waited for. Never throws, never rejects. */
export type Fetch = (request: Request, peer?: Peer) => Response | Promise<Response>;

/** A request with what is known of it so far. */
interface Call {
  request: Request;
  peer: Peer;
  requestId: string;
  startMs: number;
  route: string | undefined;
  search: Answered["search"];
}

type Answering = Response | Promise<Response>;

const ALLOWED = "GET, HEAD, OPTIONS";

/** What a browser asks before a request from another site; the answer holds for a day. */
const preflightHeaders = {
  "access-control-allow-methods": ALLOWED,
  "access-control-allow-headers": "*",
  "access-control-max-age": "86400",
};

export function createFetch(options: AppOptions): Fetch {
  const { searchLimit, clients, onBug, onAnswer } = options;
  const router = createRouter(options);
  const representations = createRepresentations({ ...options, render: router.fetch });

  function answer(call: Call): Answering {
    const { request } = call;
    const isRead = request.method === "GET" || request.method === "HEAD";
    const kept = isRead ? representations.find(request) : undefined;
    const route = kept?.route ?? router.templateOf(pathOf(request.url));
    call.route = route;
    if (!isRead) return answerOtherMethod(call);
    if (route === undefined || !isApiRoute(route)) return router.fetch(request);
    if (searchLimit && isSearchRoute(route)) return answerSearch(call, route, searchLimit);
    return representations.represent(request, route, kept);
  }

  function answerSearch(call: Call, route: ApiRoute, limit: SearchLimit): Answering {
    const { request } = call;
    return next(limit.limiter.consume(clientOf(call)), (decision) => {
      call.search = decision.allowed ? "allowed" : "refused";
      const answering = decision.allowed
        ? guard(call, () => representations.represent(request, route))
        : refuse(decision);
      return next(answering, (response) => {
        setRateLimitHeaders(response.headers, limit, decision);
        return response;
      });
    });
  }

  /** An answer, or what stands for it when it fails, now or later. */
  function guard(call: Call, attempt: (call: Call) => Answering): Answering {
    const answerBug = (error: unknown) => {
      onBug(error, call.requestId);
      return fail("internal_error");
    };
    try {
      const answering = attempt(call);
      return answering instanceof Promise ? answering.catch(answerBug) : answering;
    } catch (error) {
      return answerBug(error);
    }
  }

  function clientOf({ request, peer }: Call): string {
    return clients.keyOf(addressOf(peer), request.headers.get("x-forwarded-for"));
  }

  /** A proxy that is trusted has named the request already; anyone else's name is not taken. */
  function requestIdOf({ headers }: Request, peer: Peer): string {
    const given = clients.trustsAny ? headers.get("x-request-id") : null;
    return given !== null && isRequestId(given) && clients.trusts(addressOf(peer))
      ? given
      : crypto.randomUUID();
  }

  function finish(call: Call, response: Response): Answering {
    const { request, requestId, route, search, startMs } = call;
    const { status, headers } = response;
    setCommonHeaders(status, headers);
    headers.set("x-request-id", requestId);
    onAnswer?.({
      requestId,
      method: request.method,
      route,
      status,
      search,
      durationMs: performance.now() - startMs,
      client: () => clientOf(call),
    });
    return request.method === "HEAD" ? withoutBody(response) : response;
  }

  return (request, peer) => {
    const call: Call = {
      request,
      peer,
      requestId: requestIdOf(request, peer),
      startMs: performance.now(),
      route: undefined,
      search: undefined,
    };
    return next(guard(call, answer), (response) => finish(call, response));
  };
}

/** What follows, without a wait where there is none: waiting is a tenth of a kept answer's time. */
function next<Value, Then>(
  value: Value | Promise<Value>,
  then: (value: Value) => Then | Promise<Then>,
): Then | Promise<Then> {
  return value instanceof Promise ? value.then(then) : then(value);
}

function addressOf(peer: Peer): string | undefined {
  return typeof peer === "function" ? peer() : peer;
}

/** A known path says what it takes instead; an unknown one is unknown by any method. */
function answerOtherMethod({ request, route }: Call): Response {
  if (route === undefined) return fail("route_not_found");
  const response =
    request.method === "OPTIONS"
      ? new Response(null, { status: 204, headers: preflightHeaders })
      : fail("method_not_allowed");
  response.headers.set("allow", ALLOWED);
  return response;
}

/** The same headers, with the length the body would have. */
async function withoutBody(response: Response): Promise<Response> {
  const { status, headers } = response;
  if (response.body) {
    const { byteLength } = await response.arrayBuffer();
    headers.set("content-length", String(byteLength));
  }
  return new Response(null, { status, headers });
}

/** Answers of the API are made with these, as they are the ones that are asked for most. */
function setCommonHeaders(status: number, headers: Headers): void {
  if (headers.has("x-api-version")) return;
  for (const [name, value] of Object.entries(commonHeaders)) headers.set(name, value);
  if (status >= 400) headers.set("cache-control", "no-store");
  if (headers.get("content-type")?.startsWith("text/html")) {
    headers.set("content-security-policy", PAGE_POLICY);
  }
}
