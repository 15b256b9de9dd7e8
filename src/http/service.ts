/** The interface between the app and its routes. */
import type { Snapshot } from "../snapshot/read/reloadable.ts";

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
 * Runs before a handler, and can throw an error in its place or, after validation, return one.
 * Declare a hook that returns a promise `async`: Elysia guesses whether to await others. The type
 * hides what is returned, because typed clients would add it to the responses of every route.
 */
export type Hook = (context: HookContext) => void;

export interface HookContext {
  request: Request;
  /** The path template, such as `/users/public/:userId`. */
  route: string;
  /** The server that Elysia started; null if the `roadbook` command serves the app. */
  server: { requestIP?(request: Request): { address: string } | null } | null;
}
