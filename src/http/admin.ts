/** The admin port, for the operator: metrics, probes, and routes for test rigs. */
import { errors } from "../domain/error.ts";
import { reasonOf } from "../files/errors.ts";
import type { Metrics } from "./metrics.ts";
import { pathOf } from "./request.ts";
import { errorBody, JSON_TYPE } from "./result.ts";

interface AdminOptions {
  metrics: Pick<Metrics, "render" | "contentType">;
  isReady(): boolean;
  /** Undefined unless the server was started with faults, because the routes are for tests only. */
  rig: { setFaults(faults: readonly string[]): void; resetLimit(): void } | undefined;
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
    const replace = async (request: Request) => rig.setFaults(await request.json());
    routes.set("/faults", ["PUT", (request) => change(() => replace(request))]);
    routes.set("/search-limit", ["DELETE", () => change(rig.resetLimit)]);
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

/** Whatever `act` throws is a 400, because the operator's request was wrong. */
async function change(act: () => unknown): Promise<Response> {
  try {
    await act();
  } catch (error) {
    return refuse(400, "invalid_request", reasonOf(error));
  }
  return new Response(null, { status: 204 });
}

function refuse(status: number, code: string, message: string, headers = {}): Response {
  return Response.json(errorBody(code, message), {
    status,
    headers: { "content-type": JSON_TYPE, ...headers },
  });
}
