/** Keeps the last requests for a test rig, which asks whether it was called, and with what. */
import type { FetchHandler, RequestHandler } from "../http/request.ts";
import { pathStart } from "../http/url.ts";

const MAX_REQUESTS = 1000;

interface JournalEntry {
  /** When the request arrived. */
  time: string;
  method: string;
  /** With the query. */
  path: string;
  /** Null until the response, and 0 if a fault has closed the connection. */
  status: number | null;
}

export type Journal = ReturnType<typeof createJournal>;

export function createJournal() {
  let entries: JournalEntry[] = [];

  function add({ method, url }: Request): JournalEntry {
    const path = url.slice(pathStart(url));
    const entry = { time: new Date().toISOString(), method, path, status: null };
    entries = [...entries.slice(1 - MAX_REQUESTS), entry];
    return entry;
  }

  return {
    /** Returns a handler that does the same, and keeps each request. */
    observe(handler: RequestHandler): RequestHandler {
      const keep = (respond: FetchHandler): FetchHandler => {
        return async (request, from) => {
          const entry = add(request);
          const response = await respond(request, from);
          entry.status = handler.isDropped(request) ? 0 : response.status;
          return response;
        };
      };
      return { ...handler, fetch: keep(handler.fetch), refuse: keep(handler.refuse) };
    },
    /** The oldest first. */
    list: (): readonly JournalEntry[] => entries,
    forget(): void {
      entries = [];
    },
  };
}
