/** The address for the operator alone: metrics and probes, and nothing of the API. */
import type { ErrorCode } from "../domain/error.ts";
import type { Metrics } from "./metrics.ts";
import { pathOf } from "./request.ts";
import { fail, JSON_TYPE } from "./result.ts";

/** `isReady` says whether requests are welcome: not once the server has begun to stop. */
export function createAdminFetch(metrics: Metrics, isReady: () => boolean) {
  const pages: Record<string, () => Response | Promise<Response>> = {
    "/metrics": async () =>
      new Response(await metrics.render(), { headers: { "content-type": metrics.contentType } }),
    "/live": () => new Response("live\n"),
    "/ready": () =>
      isReady() ? new Response("ready\n") : new Response("not ready\n", { status: 503 }),
  };
  return async ({ method, url }: Request): Promise<Response> => {
    const path = pathOf(url);
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
    if (!page) return failure("route_not_found");
    if (method === "GET" || method === "HEAD") return page();
    return failure("method_not_allowed", { allow: "GET, HEAD" });
  };
}

function failure(code: ErrorCode, headers: Record<string, string> = {}): Response {
  const { code: status, response } = fail(code);
  return Response.json(response, { status, headers: { "content-type": JSON_TYPE, ...headers } });
}
