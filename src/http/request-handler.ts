/** Takes every request before Elysia does: starts its context, and rewrites what Elysia cannot route. */
import type { Client } from "../limit/client-address.ts";
import { apiUrlPattern } from "./endpoints.ts";
import { busy } from "./errors.ts";
import { peerOf } from "./peer.ts";
import type { RequestContexts } from "./request-context.ts";
import type { Respond } from "./response.ts";
import { toRoutable } from "./routable.ts";

/** {@link peerOf} explains `from`. Throws only if `request` is not a `Request`. */
export type FetchHandler = (request: Request, from?: unknown) => Response | Promise<Response>;

/** Like {@link FetchHandler}, but returns undefined for an unknown path, and does not report it. */
export type TryFetchHandler = (
  request: Request,
  from?: unknown,
) => Response | undefined | Promise<Response | undefined>;

/** Lets a server give clients turns, and see what has become of a request. */
export interface RequestHandler {
  fetch: FetchHandler;
  tryFetch: TryFetchHandler;
  /** Responds that too many requests of this client are waiting. */
  refuse: FetchHandler;
  clientOf(request: Request, from: unknown): Client;
  /** Whether a request is to the API, by its path. */
  isToApi(request: Request): boolean;
  /** Whether a fault has dropped the connection of a request to which `fetch` has responded. */
  isDropped(request: Request): boolean;
}

interface Parts {
  app: { fetch(request: Request): Response | Promise<Response> };
  contexts: RequestContexts;
  respond: Respond;
  basePath: string;
}

export function createRequestHandler(parts: Parts): RequestHandler {
  const { app, contexts, respond, basePath } = parts;
  const apiUrl = apiUrlPattern(basePath);

  /** Starts the context of a request, and returns what Elysia gets. */
  const start = (request: Request, from: unknown): Request => {
    const routable = toRoutable(request, basePath);
    contexts.start(request, peerOf(request, from), routable);
    return routable;
  };

  return {
    fetch(request, from) {
      if (typeof request?.headers?.get !== "function") {
        throw new TypeError(
          "fetch takes a Request; in Express and node:http, use roadbook.listener",
        );
      }
      return app.fetch(start(request, from));
    },
    async tryFetch(request, from) {
      const routable = start(request, from);
      const context = contexts.of(routable);
      context.hasNext = true;
      const response = await app.fetch(routable);
      return context.isUnknownPath ? undefined : response;
    },
    refuse: (request, from) => respond({ request: start(request, from), responseValue: busy }),
    clientOf(request, from) {
      return contexts.clientOf({ peer: peerOf(request, from), headers: request.headers });
    },
    isToApi: ({ url }) => apiUrl.test(url),
    isDropped: (request) => contexts.of(request).isDropped,
  };
}
