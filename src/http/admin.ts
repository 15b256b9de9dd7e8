/**
 * Serves metrics and health probes on a separate port for the operator. It never serves the API.
 */
import type { ErrorCode } from "../domain/error.ts";
import type { Metrics } from "./metrics.ts";
import { pathOf } from "./request.ts";
import { fail, JSON_TYPE } from "./result.ts";

/** `isReady` returns false once the server has begun to shut down. */
export function createAdminFetch(metrics: Metrics, isReady: () => boolean) {
  const handlers: Record<string, () => Response | Promise<Response>> = {
    "/metrics": async () =>
      new Response(await metrics.render(), { headers: { "content-type": metrics.contentType } }),
    "/live": () => new Response("live\n"),
    "/ready": () =>
      isReady() ? new Response("ready\n") : new Response("not ready\n", { status: 503 }),
  };
  return async ({ method, url }: Request): Promise<Response> => {
    const path = pathOf(url);
    const handle = Object.hasOwn(handlers, path) ? handlers[path] : undefined;
    if (!handle) return errorResponse("route_not_found");
    if (method === "GET" || method === "HEAD") return handle();
    return errorResponse("method_not_allowed", { allow: "GET, HEAD" });
  };
}

function errorResponse(code: ErrorCode, headers: Record<string, string> = {}): Response {
  const { code: status, response } = fail(code);
  return Response.json(response, { status, headers: { "content-type": JSON_TYPE, ...headers } });
}
