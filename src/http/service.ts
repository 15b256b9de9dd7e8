/** The interface between the routes and the app: their data, and the hooks that run before them. */
import type { Snapshot } from "../snapshot/read/open.ts";

export interface Service {
  /**
   * The snapshot that is being served. A handler must call this once and read everything it needs
   * before it awaits anything. A later call may return another snapshot, and the first one is
   * closed by then.
   */
  snapshot(): Snapshot;
  /** The URL that paths are appended to: the public URL if set, or the origin of the request. */
  baseUrl(request: Request): string;
  /** The path under which this app is mounted, without a trailing slash; empty for the root. */
  basePath: string;
  /** The fault injector of test rigs. */
  fault: Hook | undefined;
}

/**
 * Runs before a handler and may respond instead of it. Elysia awaits a hook only if its source says
 * `async`, so a hook that returns a promise must be an async function.
 */
export type Hook = (context: HookContext) => undefined | Promise<undefined>;

interface HookContext {
  request: Request;
  /** Such as `/users/public/:userId`. */
  route: string;
  /** The server that Elysia opened. Missing if the app is served by the `roadbook` command. */
  server: { requestIP?(request: Request): { address: string } | null } | null;
}

/** Leaves out the undefined hooks and keeps the order of the others. */
export function hooksOf(...hooks: (Hook | undefined)[]): Hook[] {
  return hooks.filter((hook) => hook !== undefined);
}
