/** The options of the app, what the routes of each feature get, and what hooks get. */
import type { Context } from "elysia";
import type { Limiter } from "../limit/limiter.ts";
import type { ReloadableSnapshot } from "../snapshot/read/reload.ts";
import type { RemoteStatus } from "../snapshot/remote/remote-snapshot.ts";
import type { Site } from "../web/brand.ts";
import type { Counters } from "./rate-limit.ts";
import type { ClientOptions } from "./request-context.ts";

export interface AppOptions extends ClientOptions {
  /**
   * A handler calls `current` once and reads everything before any `await`, because the snapshot may
   * be closed meanwhile. Searches and the sitemap read with pauses.
   */
  reloadable: Pick<ReloadableSnapshot, "current" | "readWithPauses">;
  /** The state of the URL that new snapshots come from, if they do. */
  remoteStatus(): RemoteStatus | undefined;
  /** Why a newer snapshot is not served; undefined if there is none. Anyone can read this. */
  refused(): string | undefined;
  /** Aborted when the snapshot is closed. From then on, every request gets a 503. */
  closed: AbortSignal;
  publicUrl: string | undefined;
  /** Whether browsers must use https for this host from now on. */
  isHttpsOnly: boolean;
  /** Without a trailing slash; empty for the root. */
  basePath: string;
  /** If undefined, / redirects to /docs. */
  site: Site | undefined;
  /** Undefined if searches are not limited. */
  limiter: Limiter | undefined;
  /** Unix time in milliseconds, for X-RateLimit-Reset. The limiter has a clock of its own. */
  unixClock(): number;
  /** In milliseconds. Less than a second means that caches must always revalidate. */
  cacheMaxAge: number;
  compress: boolean;
  /** Empty except for test rigs. */
  faultHooks: Hook[];
  onResponse?: ((facts: ResponseFacts) => void) | undefined;
  /** Receives the error behind every 500, and whatever `onResponse` throws. */
  onBug(error: unknown, requestId: string): void;
}

/** Passed to the plugin of each feature. */
export interface RouteOptions extends AppOptions {
  /** The URL to which paths are appended: the public URL, or the request's origin and base path. */
  baseUrl(request: Request): string;
  /** Undefined if searches are not limited. */
  counters: Counters | undefined;
}

/** Runs after a handler. If it returns a result, the client gets that instead. */
export type Hook = (
  context: Pick<Context, "request" | "route"> & {
    params?: Context["params"];
    responseValue: unknown;
  },
) => unknown;

/** Facts about a response for logs and metrics. None of them can contain a person's name. */
export interface ResponseFacts {
  requestId: string;
  method: string;
  /** The path template without /api, such as `/users/public/:userId`, unless it is unknown. */
  route: string | undefined;
  /** 0 if a fault has closed the connection, because the client gets no response. */
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
