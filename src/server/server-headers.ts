/** Adds the headers that Bun omits: a date for HEAD, and `connection: close` before it closes. */
import type { FetchHandler } from "../http/request-handler.ts";

/** Once `stopping` is aborted, all responses close their connections. */
export function addServerHeaders(respond: FetchHandler, stopping: AbortSignal): FetchHandler {
  const addHeaders = async (request: Request, pending: Response | Promise<Response>) => {
    const response = await pending;
    if (request.method === "HEAD") response.headers.set("date", new Date().toUTCString());
    // Without it, a proxy may send another request over the closing connection.
    if (stopping.aborted || asksToClose(request)) response.headers.set("connection", "close");
    return response;
  };

  return (request, from) => {
    const response = respond(request, from);
    // Bun sends an awaited response later, so only these are awaited.
    const isChanged = request.method === "HEAD" || stopping.aborted || asksToClose(request);
    return isChanged ? addHeaders(request, response) : response;
  };
}

function asksToClose({ headers }: Request): boolean {
  const connection = headers.get("connection");
  return connection !== null && /(?:^|,)\s*close\s*(?:,|$)/i.test(connection);
}
