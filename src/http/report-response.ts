/**
 * Reports each response to `onResponse`, for logs and metrics. They get the route, which is a
 * template such as `/users/public/:userId`, and never the path, which may identify a person.
 */
import type { AppOptions } from "./app-options.ts";
import { endpointOf } from "./endpoints.ts";
import type { RequestContext, RequestContexts } from "./request-context.ts";
import { withoutBase } from "./url.ts";

type Report = (context: RequestContext, route: string | undefined, status: number) => void;

/** Returns a function that takes the route that Elysia has found, if it has found one. */
export function createReport(
  { onResponse, onBug, basePath }: AppOptions,
  contexts: RequestContexts,
): Report {
  if (!onResponse) return () => {};
  return (context, route, status) => {
    const { requestId, method, decision, startMs } = context;
    try {
      const reported: unknown = onResponse({
        requestId,
        method,
        route: labelOf(route, basePath),
        status,
        search: decision && (decision.allowed ? "allowed" : "refused"),
        durationMs: performance.now() - startMs,
        client: () => contexts.clientOf(context).key,
      });
      // A program may give an async function.
      if (reported instanceof Promise) reported.catch((error) => onBug(error, requestId));
    } catch (error) {
      onBug(error, requestId);
    }
  };
}

/** Returns a route as metrics name it: the path of an endpoint, or another without the base path. */
function labelOf(route: string | undefined, basePath: string): string | undefined {
  // A wildcard stands for all paths that are unknown.
  if (route === undefined || route.endsWith("/*")) return undefined;
  return endpointOf(route)?.path ?? withoutBase(route, basePath);
}
