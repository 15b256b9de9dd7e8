/**
 * The admin port, which is only for the operator: metrics, health probes, and for test rigs, routes
 * that replace the faults and reset the search limit.
 */
import { errors } from "../domain/error.ts";
import type { Metrics } from "./metrics.ts";
import { pathOf } from "./request.ts";
import { errorBody, JSON_TYPE } from "./result.ts";

interface AdminOptions {
  metrics: Pick<Metrics, "render" | "contentType">;
  /** Returns false once the server has begun to shut down. */
  isReady(): boolean;
  /** Undefined unless the server was started with faults, because the routes are for tests only. */
  rig: TestRig | undefined;
}

/** `setFaults` throws a `RangeError` for an invalid fault, and `resetLimit` for a shared limit. */
interface TestRig {
  setFaults(faults: readonly string[]): void;
  resetLimit(): void;
}

type Handler = (request: Request) => Response | Promise<Response>;

export function createAdminFetch({ metrics, isReady, rig }: AdminOptions): Handler {
  const headers = { "content-type": metrics.contentType };
  const notReady = () => new Response("not ready\n", { status: 503 });
  const routes = new Map<string, [method: string, handle: Handler]>([
    ["/metrics", ["GET", async () => new Response(await metrics.render(), { headers })]],
    ["/live", ["GET", () => new Response("live\n")]],
    ["/ready", ["GET", () => (isReady() ? new Response("ready\n") : notReady())]],
  ]);
  if (rig) {
    routes.set("/faults", ["PUT", (request) => replaceFaults(request, rig)]);
    routes.set("/search-limit", ["DELETE", () => resetLimit(rig)]);
  }
  return (request) => {
    const route = routes.get(pathOf(request.url));
    if (!route) return refuse(404, "route_not_found", errors.route_not_found.message);
    const [method, handle] = route;
    if (method === (request.method === "HEAD" ? "GET" : request.method)) return handle(request);
    const allow = method === "GET" ? "GET, HEAD" : method;
    return refuse(405, "method_not_allowed", `Use ${allow}.`, { allow });
  };
}

/** Replaces all faults, or none if the body is invalid. */
async function replaceFaults(request: Request, rig: TestRig): Promise<Response> {
  const faults: unknown = await request.json().catch(() => undefined);
  const isList = Array.isArray(faults) && faults.every((fault) => typeof fault === "string");
  try {
    if (!isList) throw new RangeError('The body must be a list, such as ["search:status=503"].');
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
    const message = "The counts are in the shared store: delete its keys roadbook:limit:* instead.";
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
