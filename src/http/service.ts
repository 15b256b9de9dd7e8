/** What the routes of the API read from, and what may happen before them; roadbook.ts makes it. */
import type { Snapshot } from "../snapshot/read/open.ts";

export interface Service {
  /**
   * The snapshot that is served now. A handler calls this once, and reads all it needs before it
   * waits for anything: a later call may return another snapshot, and then this one is closed.
   */
  snapshot(): Snapshot;
  /** The URL that completes paths: the operator's, or this server's as the client calls it. */
  baseUrl(request: Request): string;
  /** The path under which this app is mounted, without a slash at the end; empty for the root. */
  basePath: string;
  /** Makes a request fail on purpose, in test rigs. */
  fault: Hook | undefined;
}

/**
 * Runs before a handler and may respond in its place. Elysia awaits it only if its source says
 * `async`, so a hook that returns a promise must be an async function.
 */
export type Hook = (context: HookContext) => undefined | Promise<undefined>;

interface HookContext {
  request: Request;
  /** Such as `/users/public/:userId`. */
  route: string;
  /** The server of the app, where Elysia has opened it: not that of the command. */
  server: { requestIP?(request: Request): { address: string } | null } | null;
}

/** A list for `beforeHandle`, in that order. */
export function hooksOf(...hooks: (Hook | undefined)[]): Hook[] {
  return hooks.filter((hook) => hook !== undefined);
}
