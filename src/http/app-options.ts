/** The options of the app, and the service made of them that the routes of each feature get. */
import type { Clients } from "../limit/client-address.ts";
import type { Limiter } from "../limit/decision.ts";
import type { ReloadableSnapshot } from "../snapshot/read/reload.ts";
import type { RemoteStatus } from "../snapshot/remote/remote-snapshot.ts";
import type { PageAssets } from "../web/assets.ts";
import type { Brand, Logo } from "../web/brand.ts";
import type { CountSearch, Hook, ResponseFacts } from "./hooks.ts";
import type { RequestContexts, SharedBudget } from "./request-context.ts";
import type { Respond } from "./response.ts";

export interface AppOptions {
  /**
   * A handler calls this once and reads everything before any `await`, because the snapshot may be
   * closed meanwhile.
   */
  currentSnapshot: ReloadableSnapshot["current"];
  /** Once the snapshot is closed, every request gets a 503. */
  isClosed(): boolean;
  /** Why a newer snapshot is not served; undefined if there is none. */
  refused(): string | undefined;
  /** Undefined for a local file. */
  remoteStatus(): RemoteStatus | undefined;
  publicUrl: string | undefined;
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
  /** Called at the first request with X-Forwarded-For whose peer is not trusted. */
  onSharedBudget?: ((cause: SharedBudget) => void) | undefined;
  /** Empty except for test rigs. */
  faultHooks: Hook[];
  onResponse?: ((facts: ResponseFacts) => void) | undefined;
  /** Receives the error behind every 500, and whatever `onResponse` throws. */
  onBug(error: unknown, requestId: string): void;
}

/** Passed to the plugin of each feature. */
export interface Service extends AppOptions {
  /** The URL to which paths are appended: the public URL, or the request's origin and base path. */
  baseUrl: RequestContexts["baseUrlOf"];
  countSearch: CountSearch | undefined;
  respond: Respond;
}

export interface Pages extends Brand {
  accent: string | undefined;
  logo: Logo | undefined;
  /** The users on the start page. Defaults to those with the most achievement points. */
  featured: readonly number[] | undefined;
  assets: PageAssets;
}
