/** A connection that a fault drops, so that the client gets no response. Logs say status 0. */
import type { FetchHandler } from "./request.ts";

const dropped = new WeakSet<Response>();

/** Makes a response whose body fails, so that a server closes the connection. */
export function dropConnection(): Response {
  // Without a reason, because Bun would print that.
  const response = new Response(new ReadableStream({ start: (stream) => stream.error() }));
  dropped.add(response);
  return response;
}

export function isDropped(result: unknown): boolean {
  return result instanceof Response && dropped.has(result);
}

/** The status for logs. */
export function loggedStatusOf(response: Response): number {
  return isDropped(response) ? 0 : response.status;
}

/**
 * Rejects for a dropped connection, as the global `fetch` does, if the program itself calls it. If a
 * server calls it, which passes an object as `from`, the server closes the connection.
 */
export function rejectDropped(fetch: FetchHandler): FetchHandler {
  return async (request, from) => {
    const response = await fetch(request, from);
    const isServer = typeof from === "object" && from !== null;
    if (isServer || !isDropped(response)) return response;
    throw new TypeError("the connection was closed by an injected fault");
  };
}
