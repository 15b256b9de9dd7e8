/** What the routes answer from; made by roadbook.ts. */
import type { Snapshot, SnapshotError } from "../snapshot/read/open.ts";
import type { SearchLimit } from "./rate-limit.ts";

export interface Context {
  /**
   * The snapshot to answer this request from. To be asked for once, and used up before anything is
   * waited for: a later call may give another, and then this one is closed.
   */
  snapshot(): Snapshot;
  /** Why the file that was put in the place of that snapshot is not served, if there is such. */
  refused(): SnapshotError | undefined;
  /** The base URL that completes avatar paths; without one, the origin of the request. */
  publicUrl: string | undefined;
  /** Scheme and host as the client wrote them. */
  originOf(request: Request): string;
  /** What each client may search; without it, anything. */
  searchLimit: SearchLimit | undefined;
}

/** An avatar as an absolute URL: a dataset may have it as a path. */
export function absoluteUrl(avatarUrl: string, context: Context, request: Request): string {
  if (!avatarUrl.startsWith("/")) return avatarUrl;
  return (context.publicUrl ?? context.originOf(request)) + avatarUrl;
}
