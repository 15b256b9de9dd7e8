/**
 * The interface between the app and its routes: the data that routes read, and the hooks that run
 * before them.
 */
import type { Snapshot } from "../snapshot/read/open.ts";

export interface Service {
  /**
   * Returns the snapshot being served. A handler must call this once, and read everything it needs
   * before it awaits anything. After an `await`, the snapshot may have been replaced and closed.
   */
  snapshot(): Snapshot;
  /**
   * The URL to which paths are appended: the public URL, or else the request's origin and base
   * path.
   */
  baseUrl(request: Request): string;
  /** The path under which this app is mounted, without a trailing slash; empty for the root. */
  basePath: string;
  /** The fault injector, for test rigs only. */
  fault: Hook | undefined;
}

/**
 * Runs before a handler and can respond in its place. Elysia awaits a hook only if the hook's
 * source says `async`, so a hook that returns a promise must be an async function.
 */
export type Hook = (context: HookContext) => undefined | Promise<undefined>;

export interface HookContext {
  request: Request;
  /** The path template, such as `/users/public/:userId`. */
  route: string;
  /** The server that Elysia started; null if the `roadbook` command serves the app. */
  server: { requestIP?(request: Request): { address: string } | null } | null;
}

/** Returns the hooks that are defined, in the given order. */
export function hooksOf(...hooks: (Hook | undefined)[]): Hook[] {
  return hooks.filter((hook) => hook !== undefined);
}
