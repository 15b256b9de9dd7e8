/** Records requests, so that a test rig can ask on the admin port whether it was called, and with what. */
import { loggedStatusOf } from "../http/dropped-connection.ts";
import type { FetchHandler } from "../http/request.ts";
import { pathStart } from "../http/url.ts";

/** How many requests are kept. */
const MAX_REQUESTS = 1000;

interface RecordedRequest {
  /** When the request arrived. */
  time: string;
  method: string;
  /** With the query. */
  path: string;
  /** Null before the response or without one, and 0 if a fault has closed the connection. */
  status: number | null;
}

export type Recorder = ReturnType<typeof createRecorder>;

export function createRecorder() {
  const requests: RecordedRequest[] = [];

  function add({ method, url }: Request): RecordedRequest {
    const path = url.slice(pathStart(url));
    const recorded = { time: new Date().toISOString(), method, path, status: null };
    requests.push(recorded);
    if (requests.length > MAX_REQUESTS) requests.shift();
    return recorded;
  }

  return {
    /** Returns a handler that does the same, and keeps each request. */
    observe(handler: FetchHandler): FetchHandler {
      return async (request, from) => {
        const recorded = add(request);
        const response = await handler(request, from);
        recorded.status = loggedStatusOf(response);
        return response;
      };
    },
    /** The oldest first. */
    list: (): readonly RecordedRequest[] => requests,
    forget(): void {
      requests.length = 0;
    },
  };
}
