/** The options of the app, the service that its routes share, and the context of each request. */
import type { Context } from "elysia";
import type { Client, Clients } from "../limit/client-address.ts";
import type { Decision, Limiter } from "../limit/limiter.ts";
import type { Snapshot } from "../snapshot/read/reload.ts";
import type { SourceStatus } from "../snapshot/remote/source.ts";
import type { PageAssets } from "../web/assets.ts";
import type { Brand, Logo } from "../web/brand.ts";
import { forwardedOriginOf, originOf } from "./request.ts";

export interface AppOptions {
  /**
   * A handler calls this once and reads everything before any `await`, because the snapshot may be
   * closed meanwhile.
   */
  snapshot(): Snapshot;
  /** Once the snapshot is closed, every request gets a 503. */
  isClosed(): boolean;
  /** Why a newer snapshot is not served; undefined if there is none. */
  refused(): string | undefined;
  /** The state of the snapshot's source; undefined for a local file. */
  source(): SourceStatus | undefined;
  publicUrl: string | undefined;
  /** Without a trailing slash; empty for the root. */
  basePath: string;
  /** If undefined, / redirects to /docs. */
  page: Pages | undefined;
  searchLimit: SearchLimit | undefined;
  clients: Clients;
  /** The peer assumed for requests without one. A search with no peer at all is not counted. */
  defaultPeer?: string | undefined;
  /** Zero means that caches must always revalidate. */
  cacheMaxAgeSeconds: number;
  compress: boolean;
  /** Empty except for test rigs. */
  faults: Hook[];
  onResponse?: ((facts: ResponseFacts) => void) | undefined;
  /** Receives the error behind every 500, and whatever `onResponse` throws. */
  onBug(error: unknown, requestId: string): void;
}

/** Passed to the plugin of each feature. */
export interface Service extends AppOptions {
  /** The URL to which paths are appended: the public URL, or the request's origin and base path. */
  baseUrl(request: Request): string;
  countSearch: CountSearch | undefined;
}

export interface Pages extends Brand {
  accent?: string | undefined;
  logo: Logo | undefined;
  /** The drivers on the start page. Defaults to those with the most achievement points. */
  featured?: readonly number[] | undefined;
  assets: PageAssets;
}

/** Returns undefined if the client is unlimited. */
export type CountSearch = (
  request: Request,
  server: Context["server"],
) => Promise<Decision | undefined>;

export interface SearchLimit {
  limiter: Limiter;
  /** Searches per window and client. */
  limit: number;
  windowMs: number;
  /** Unix time in milliseconds. */
  clock: () => number;
}

/**
 * Runs before a handler, and throws the error or the response that a client gets instead. Declare a
 * hook that returns a promise `async`: Elysia guesses whether to await others.
 */
export type Hook = (context: Pick<Context, "request" | "route" | "server">) => void | Promise<void>;

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

/** The ids that are safe in logs and headers. */
export const REQUEST_ID = /^[\w.~+/=:@-]{1,128}$/;

/** What identifies the client of a request. */
interface Sender {
  peer: Peer;
  headers: Headers;
}

/** What is known of a request apart from the `Request` that Elysia gets. */
export interface RequestContext extends Sender {
  /** The URL and method as they were sent, which may differ from those that Elysia gets. */
  url: string;
  method: string;
  requestId: string;
  /** When the request arrived, on the monotonic clock. */
  startMs: number;
  /** What the search limit decided. Undefined if the request was not counted. */
  decision: Decision | undefined;
}

/** The context of each request, by its `Request`, the only object that all hooks share. */
export class RequestContexts {
  readonly #contexts = new WeakMap<Request, RequestContext>();
  readonly #clients: Clients;
  readonly #defaultPeer: Peer;

  constructor(clients: Clients, defaultPeer: string | undefined) {
    this.#clients = clients;
    this.#defaultPeer = defaultPeer;
  }

  /** Elysia gets `request` instead of `sent`. */
  start(request: Request, sent = request, peer = this.#defaultPeer): RequestContext {
    const { url, method, headers } = sent;
    const given = (this.#clients.trustsAny && headers.get("x-request-id")) || "";
    const isSafe = REQUEST_ID.test(given) && this.#isTrusted(peer);
    const context = {
      peer,
      url,
      method,
      headers,
      requestId: isSafe ? given : crypto.randomUUID(),
      startMs: performance.now(),
      decision: undefined,
    };
    this.#contexts.set(request, context);
    return context;
  }

  /** A request that arrived through a host's app has no context yet, so this starts one. */
  of(request: Request): RequestContext {
    return this.#contexts.get(request) ?? this.start(request);
  }

  clientOf({ peer, headers }: Sender): Client {
    return this.#clients.clientOf(addressOf(peer), headers.get("x-forwarded-for"));
  }

  /** Whether all clients of an untrusted proxy count as one. */
  hidesClients({ peer, headers }: Sender): boolean {
    return headers.has("x-forwarded-for") && !this.#isTrusted(peer);
  }

  isUnlimited({ peer, headers }: Sender): boolean {
    return this.#clients.isUnlimited(addressOf(peer), headers.get("x-forwarded-for"));
  }

  originOf(request: Request): string {
    const { url, peer, headers } = this.of(request);
    return this.#isTrusted(peer) ? forwardedOriginOf(url, headers) : originOf(url);
  }

  #isTrusted(peer: Peer): boolean {
    return this.#clients.trustsAny && this.#clients.trusts(addressOf(peer));
  }
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
