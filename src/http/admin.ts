/**
 * The admin port, which is only for the operator: metrics, health probes, and for test rigs, routes
 * that replace the faults and reset the search limit.
 */
import { errors } from "../domain/error.ts";
import type { Metrics } from "./metrics.ts";
import { pathOf } from "./request.ts";
import { errorBody, JSON_TYPE } from "./result.ts";

interface AdminOptions {
  metrics: Metrics;
  /** Returns false once the server has begun to shut down. */
  isReady(): boolean;
  /** Undefined unless the server was started with faults, because the routes are for tests only. */
  rig: TestRig | undefined;
}

interface TestRig {
  /** Throws a `RangeError` if a fault is invalid. */
  setFaults(faults: readonly string[]): void;
  /** Throws if the counts are in a shared store. */
  resetLimit(): void;
}

type Handler = (request: Request) => Response | Promise<Response>;

export function createAdminFetch({ metrics, isReady, rig }: AdminOptions): Handler {
  const routes: Record<string, Record<string, Handler>> = {
    "/metrics": {
      GET: async () =>
        new Response(await metrics.render(), { headers: { "content-type": metrics.contentType } }),
    },
    "/live": { GET: () => new Response("live\n") },
    "/ready": {
      GET: () =>
        isReady() ? new Response("ready\n") : new Response("not ready\n", { status: 503 }),
    },
    ...(rig && {
      "/faults": { PUT: (request) => replaceFaults(request, rig) },
      "/search-limit": { DELETE: () => resetLimit(rig) },
    }),
  };
  return (request) => {
    const path = pathOf(request.url);
    const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
    if (!route) return refuse(404, "route_not_found", errors.route_not_found.message);
    const handle = route[request.method === "HEAD" ? "GET" : request.method];
    if (handle) return handle(request);
    const allow = "GET" in route ? "GET, HEAD" : Object.keys(route).join(", ");
    return refuse(405, "method_not_allowed", `Use ${allow}.`, { allow });
  };
}

/** Replaces all faults, or none if the body is invalid. */
async function replaceFaults(request: Request, rig: TestRig): Promise<Response> {
  const faults: unknown = await request.json().catch(() => undefined);
  if (!Array.isArray(faults) || !faults.every((fault) => typeof fault === "string")) {
    const message = 'The body must be a JSON list of faults, as in ["search:status=503,times=2"].';
    return refuse(400, "invalid_faults", message);
  }
  try {
    rig.setFaults(faults);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return refuse(400, "invalid_faults", error.message);
  }
  return new Response(null, { status: 204 });
}

function resetLimit(rig: TestRig): Response {
  try {
    rig.resetLimit();
  } catch {
    const message =
      "The counts are in the shared store; delete its keys roadbook:limit:* instead, or start " +
      "without --rate-limit-store.";
    return refuse(409, "limit_is_shared", message);
  }
  return new Response(null, { status: 204 });
}

function refuse(status: number, code: string, message: string, headers = {}): Response {
  return Response.json(errorBody(code, message), {
    status,
    headers: { "content-type": JSON_TYPE, ...headers },
  });
}
