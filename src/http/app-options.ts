/** The options of the app, the service that the routes of each feature get, and the types of hooks. */
import type { Context } from "elysia";
import type { Clients } from "../limit/client-address.ts";
import type { Decision, Limiter } from "../limit/limiter.ts";
import type { ReloadableSnapshot } from "../snapshot/read/reload.ts";
import type { RemoteStatus } from "../snapshot/remote/remote-snapshot.ts";
import type { PageAssets } from "../web/assets.ts";
import type { Brand, Logo } from "../web/brand.ts";

export interface AppOptions {
  /**
   * A handler calls this once and reads everything before any `await`, because the snapshot may be
   * closed meanwhile.
   */
  currentSnapshot: ReloadableSnapshot["current"];
  /** For searches and the sitemap. */
  readWithPauses: ReloadableSnapshot["readWithPauses"];
  /** Aborted when the snapshot is closed. From then on, every request gets a 503. */
  closed: AbortSignal;
  /** Why a newer snapshot is not served; undefined if there is none. */
  refusedReplacement(): string | undefined;
  /** Undefined unless the snapshot is from a URL. */
  remoteStatus(): RemoteStatus | undefined;
  publicUrl: string | undefined;
  /** Whether browsers must use https for this host from now on. */
  isHttpsOnly: boolean;
  /** Without a trailing slash; empty for the root. */
  basePath: string;
  /** If undefined, / redirects to /docs. */
  pages: Pages | undefined;
  /** Undefined if searches are not limited. */
  limiter: Limiter | undefined;
  /** Unix time in milliseconds, for X-RateLimit-Reset. The limiter has a clock of its own. */
  unixClock(): number;
  clients: Clients;
  /** The peer assumed for requests without one. A search with no peer at all is not counted. */
  defaultPeer?: string | undefined;
  /** Zero means that caches must always revalidate. */
  cacheMaxAgeSeconds: number;
  compress: boolean;
  /**
   * Called once, with a header's name, if many clients turn out to share one search budget:
   * `X-Forwarded-For` if it comes from a proxy that is not trusted, or another header that names
   * another client.
   */
  onSharedBudget?: ((header: string) => void) | undefined;
  /** Empty except for test rigs. */
  faultHooks: Hook[];
  onResponse?: ((facts: ResponseFacts) => void) | undefined;
  /** Receives the error behind every 500, and whatever `onResponse` throws. */
  onBug(error: unknown, requestId: string): void;
}

/** Passed to the plugin of each feature. */
export interface Service extends AppOptions {
  /** The URL to which paths are appended: the public URL, or the request's origin and base path. */
  baseUrl(request: Request): string;
  /** Undefined if searches are not limited. */
  counters: Counters | undefined;
}

/** Each counts a request, and returns the decision if the client is over the limit. */
export interface Counters {
  countSearch(request: Request): Promise<Decision | undefined>;
  countCompanyPage(request: Request): Decision | undefined;
}

export interface Pages extends Brand {
  accent: string | undefined;
  logo: Logo | undefined;
  assets: PageAssets;
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
