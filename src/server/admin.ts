/**
 * The admin port, for the operator: metrics, probes, and routes for test rigs. On loopback, it
 * responds only to its own address, so that no web page reaches it by DNS rebinding.
 */
import { UsageError } from "../domain/invalid-value.ts";
import { JSON_TYPE } from "../http/content.ts";
import { errorBody } from "../http/errors.ts";
import { pathOf } from "../http/url.ts";
import { toUrlHost } from "./address.ts";
import type { Metrics } from "./metrics.ts";
import type { Recorder } from "./recorder.ts";

interface AdminOptions {
  host: string;
  metrics: Pick<Metrics, "render" | "contentType">;
  isReady(): boolean;
  /** Undefined unless the server was started with faults, because the routes are for tests only. */
  rig: Rig | undefined;
  /** Receives the error behind every 500. */
  onBug(error: unknown): void;
}

interface Rig {
  roadbook: {
    listFaults(): string[];
    setFaults(faults: readonly string[]): void;
    resetLimit(): void;
  };
  recorder: Pick<Recorder, "list" | "forget">;
}

type Handler = (body: string) => Response | Promise<Response>;

export const METRICS_PATH = "/metrics";

const MAX_BODY_BYTES = 64 * 2 ** 10;

export function createAdminFetch({ host, metrics, isReady, rig, onBug }: AdminOptions) {
  const hosts = findHosts(host);
  const headers = { "content-type": metrics.contentType };
  const notReady = () => new Response("not ready\n", { status: 503 });
  const routes = new Map<string, Record<string, Handler>>([
    [METRICS_PATH, { GET: async () => new Response(await metrics.render(), { headers }) }],
    ["/live", { GET: () => new Response("live\n") }],
    ["/ready", { GET: () => (isReady() ? new Response("ready\n") : notReady()) }],
  ]);

  if (rig) {
    const { roadbook, recorder } = rig;
    const PUT = (body: string) => change(() => roadbook.setFaults(parseList(body)));
    routes.set("/faults", { GET: () => json(roadbook.listFaults()), PUT });
    routes.set("/search-limit", { DELETE: () => change(roadbook.resetLimit) });
    const DELETE = () => change(recorder.forget);
    routes.set("/requests", { GET: () => json(recorder.list()), DELETE });
  }

  const forRigs = rig ? "" : " and, with --fault, /faults, /search-limit and /requests";
  const paths = `The admin port has ${[...routes.keys()].join(", ")}${forRigs}.`;

  return async (request: Request): Promise<Response> => {
    const sentHost = request.headers.get("host")?.toLowerCase().replace(/:\d*$/, "");
    if (hosts && !hosts.includes(sentHost ?? "")) {
      return refuse(403, "host_not_allowed", `Use one of these hosts: ${hosts.join(", ")}.`);
    }

    const route = routes.get(pathOf(request.url));
    if (!route) return refuse(404, "route_not_found", paths);

    const method = request.method === "HEAD" ? "GET" : request.method;
    const handle = Object.hasOwn(route, method) && route[method];
    if (!handle) {
      const allow = Object.keys(route).join(", ").replace("GET", "GET, HEAD");
      return refuse(405, "method_not_allowed", `Use ${allow}.`, { allow });
    }

    const body = await readBody(request);
    if (body === undefined) {
      return refuse(413, "body_too_large", `Send at most ${MAX_BODY_BYTES / 2 ** 10} KB.`);
    }
    try {
      return await handle(body);
    } catch (error) {
      if (error instanceof UsageError) return refuse(400, "invalid_request", error.message);
      onBug(error);
      return refuse(
        500,
        "internal_error",
        "The server failed unexpectedly; its log has the error.",
      );
    }
  };
}

/** Returns the values of `Host` to respond to, without ports. Undefined means all. */
function findHosts(host: string): string[] | undefined {
  const name = URL.parse(`http://${toUrlHost(host)}`)?.hostname ?? host;
  if (name === "localhost") return [name, "127.0.0.1", "[::1]"];
  return /^(127(\.\d+){3}|\[::(1|ffff:7f..:\w+)\])$/.test(name) ? [name, "localhost"] : undefined;
}

/** Returns undefined if the body is too large, and reads no further. It may be chunked. */
async function readBody({ body }: Request): Promise<string | undefined> {
  let bytes = Buffer.alloc(0);
  for await (const chunk of body ?? []) {
    bytes = Buffer.concat([bytes, chunk]);
    if (bytes.length > MAX_BODY_BYTES) return undefined;
  }
  return bytes.toString();
}

/** Throws unless `body` is a list of texts. The parser of faults checks each text. */
function parseList(body: string): string[] {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {}
  const isText = (each: unknown): each is string => typeof each === "string";
  if (Array.isArray(value) && value.every(isText)) return value;
  throw new UsageError(
    'the body must be a JSON list of faults, such as ["search:status=503,times=2"]',
  );
}

function change(act: () => void): Response {
  act();
  return new Response(null, { status: 204 });
}

const refuse = (status: number, code: string, message: string, headers = {}) =>
  json(errorBody(code, message), status, headers);

const json = (body: unknown, status = 200, headers = {}) =>
  Response.json(body, { status, headers: { "content-type": JSON_TYPE, ...headers } });
