/**
 * The whole HTTP side as one function from request to response, and the only place that has an
 * order: what holds for every answer (method, limit, headers) is around the routes, which know only
 * their own subject.
 */
import type { Clients } from "../limit/client.ts";
import { commonHeaders, fail } from "./answer.ts";
import type { Audience } from "./caching.ts";
import { PAGE_POLICY } from "./docs.ts";
import { refuse, type SearchLimit, setRateLimitHeaders } from "./rate-limit.ts";
import { createRepresentations, type RepresentationsOptions } from "./representations.ts";
import { isRequestId, pathOf } from "./request.ts";
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

/** Answers a request. Never rejects. */
export type Fetch = (request: Request, peer?: Peer) => Promise<Response>;

/** A request with what is known of it before it is answered. */
interface Call {
  request: Request;
  route: string | undefined;
  search: Answered["search"];
  client(): string;
  answerBug(error: unknown): Response;
}

const ALLOWED = "GET, HEAD, OPTIONS";

/** What a browser asks before a request from another site; the answer holds for a day. */
const preflightHeaders = {
  "access-control-allow-methods": ALLOWED,
  "access-control-allow-headers": "*",
  "access-control-max-age": "86400",
};

/** Whose cache may keep the answers of a route of the API; of the rest, nothing is said. */
const audiences: Record<string, Audience> = {
  "/users/public/:userId": "public",
  "/users/:userId/achievements": "public",
  "/search/companies": "private",
  "/search/users": "private",
};

export function createFetch(options: AppOptions): Fetch {
  const { searchLimit, clients, onBug, onAnswer } = options;
  const router = createRouter(options);
  const represent = createRepresentations({ ...options, render: router.fetch });

  async function answer(call: Call): Promise<Response> {
    const { request, route } = call;
    const { method } = request;
    if (method !== "GET" && method !== "HEAD") return answerOtherMethod(call);
    const audience = route === undefined ? undefined : audiences[route];
    if (audience === undefined) return router.fetch(request);
    // What only the client's own cache may keep are the searches.
    if (audience === "public" || !searchLimit) return represent(request, audience);
    const decision = await searchLimit.limiter.take(call.client());
    call.search = decision.allowed ? "allowed" : "refused";
    const response = decision.allowed
      ? await represent(request, audience).catch(call.answerBug)
      : refuse(decision);
    setRateLimitHeaders(response.headers, searchLimit, decision);
    return response;
  }

  /** A proxy that is trusted has named the request already; anyone else's name is not taken. */
  function requestIdOf({ headers }: Request, peerOf: () => string | undefined): string {
    const given = clients.trustsAny ? headers.get("x-request-id") : null;
    return given !== null && isRequestId(given) && clients.trusts(peerOf())
      ? given
      : crypto.randomUUID();
  }

  return async (request, peer) => {
    const startMs = performance.now();
    const peerOf = typeof peer === "function" ? peer : () => peer;
    const requestId = requestIdOf(request, peerOf);
    let client: string | undefined;
    const call: Call = {
      request,
      route: router.templateOf(pathOf(request.url)),
      search: undefined,
      client: () => {
        client ??= clients.keyOf(peerOf(), request.headers.get("x-forwarded-for"));
        return client;
      },
      answerBug(error) {
        onBug(error, requestId);
        return fail("internal_error");
      },
    };
    let response: Response;
    try {
      response = await answer(call);
    } catch (error) {
      response = call.answerBug(error);
    }
    setCommonHeaders(response);
    response.headers.set("x-request-id", requestId);
    onAnswer?.({
      requestId,
      method: request.method,
      route: call.route,
      status: response.status,
      search: call.search,
      durationMs: performance.now() - startMs,
      client: call.client,
    });
    return request.method === "HEAD" ? withoutBody(response) : response;
  };
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

function setCommonHeaders({ status, headers }: Response): void {
  if (status >= 400) headers.set("cache-control", "no-store");
  // Answers of the API are made with these.
  if (headers.has("x-api-version")) return;
  for (const [name, value] of Object.entries(commonHeaders)) headers.set(name, value);
  if (headers.get("content-type")?.startsWith("text/html")) {
    headers.set("content-security-policy", PAGE_POLICY);
  }
}
