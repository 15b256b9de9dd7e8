/** What a handler reads: the request, and the service around it, which roadbook.ts makes. */
import type { Snapshot, SnapshotError } from "../snapshot/read/open.ts";
import type { SourceStatus } from "../snapshot/remote/source.ts";
import type { DocsScript } from "./docs.ts";
import type { PageAssets, PageOptions } from "./pages.ts";
import type { SearchLimit } from "./rate-limit.ts";
import { originOf } from "./request.ts";

export interface Context {
  request: Request;
  /** The parameters of the route's path, percent-decoded. */
  params: Record<string, string>;
  service: Service;
  /** Asks this API for a path as the same client would: a search counts against its limit. */
  ask(path: string): Promise<Response>;
}

export interface Service {
  /** Whether the snapshot is closed, and with it the service. */
  isClosed(): boolean;
  /**
   * The snapshot that is served now. A handler calls this once, and reads all it needs before it
   * waits for anything: a later call may return another snapshot, and then this one is closed.
   */
  snapshot(): Snapshot;
  /** Why the file that replaced that snapshot is not served, if there is such a file. */
  refused(): SnapshotError | undefined;
  /** Where snapshots are fetched from, and how that went; undefined for a file. */
  source(): SourceStatus | undefined;
  /** The base URL that completes avatar paths and that the docs name; without one, the origin of the request. */
  publicUrl: string | undefined;
  /** What each client may search; without it, anything. */
  searchLimit: SearchLimit | undefined;
  docsScript: DocsScript;
  /** The page for people; without it, the start leads to the docs. */
  page: PageOptions | undefined;
  pageAssets(): Promise<PageAssets>;
}

/** The URL that completes paths: as the operator says, or as the client knows this server. */
export function baseUrlOf({ service, request }: Context): string {
  return service.publicUrl ?? originOf(request.url);
}

/** An avatar as an absolute URL: a snapshot may have it as a path. */
export function absoluteUrl(avatarUrl: string, baseUrl: string): string {
  return avatarUrl.startsWith("/") ? baseUrl + avatarUrl : avatarUrl;
}
