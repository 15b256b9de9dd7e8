/** The interface between the app and its routes. */
import type { Snapshot } from "../snapshot/read/open.ts";

export interface Service {
  /**
   * A handler calls this once and reads everything before any `await`, because the snapshot may be
   * closed meanwhile.
   */
  snapshot(): Snapshot;
  /** The URL to which paths are appended: the public URL, or the request's origin and base path. */
  baseUrl(request: Request): string;
  /** The path under which this app is mounted, without a trailing slash; empty for the root. */
  basePath: string;
  /** The fault injector, for test rigs; otherwise empty. */
  faults: Hook[];
}

/**
 * Runs before a handler and can throw an error in its place or, after validation, return one.
 * Elysia awaits a hook only if its source says `async`, so hooks are async functions.
 */
export type Hook = (context: HookContext) => Promise<undefined>;

export interface HookContext {
  request: Request;
  /** The path template, such as `/users/public/:userId`. */
  route: string;
  /** The server that Elysia started; null if the `roadbook` command serves the app. */
  server: { requestIP?(request: Request): { address: string } | null } | null;
}
