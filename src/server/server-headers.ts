/** Adds the headers of a server: a date for HEAD and, while it stops, `connection: close`. */
import type { FetchHandler } from "../http/request-handler.ts";

/** Once `stopping` is aborted, responses close their connections. */
export function addServerHeaders(respond: FetchHandler, stopping: AbortSignal): FetchHandler {
  const addHeaders = async (request: Request, pending: Response | Promise<Response>) => {
    const response = await pending;
    // Bun omits it for HEAD.
    if (request.method === "HEAD") response.headers.set("date", new Date().toUTCString());
    if (stopping.aborted) response.headers.set("connection", "close");
    return response;
  };

  return (request, from) => {
    const response = respond(request, from);
    // Bun sends an awaited response later, so only these are awaited.
    const isChanged = request.method === "HEAD" || stopping.aborted;
    return isChanged ? addHeaders(request, response) : response;
  };
}
