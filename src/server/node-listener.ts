/** Adapts a fetch handler to `node:http` and Express. Opens no socket. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { FetchHandler } from "../http/app.ts";

/** With `next`, as in Express, requests for unknown paths are passed on to it. */
export type NodeListener = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  next?: () => void,
) => void;

export function createNodeListener(respond: FetchHandler): NodeListener {
  return (incoming, outgoing, next) => {
    send(incoming, outgoing, respond, next).catch(() => outgoing.destroy());
  };
}

/** Reads the whole body before it writes the head, so that a failing body sends no response. */
async function send(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  respond: FetchHandler,
  next: (() => void) | undefined,
): Promise<void> {
  const response = await respond(requestOf(incoming), () => incoming.socket.remoteAddress);
  const body = Buffer.from(await response.arrayBuffer());
  if (next && isUnknownPath(response, body)) return next();
  // Discards the request's body.
  incoming.resume();
  outgoing.statusCode = response.status;
  for (const [name, value] of response.headers) outgoing.setHeader(name, value);
  outgoing.end(body);
}

/**
 * A response to HEAD has no body, so an unknown user looks like an unknown path and is passed on
 * too. That does no harm, as no other handler has such a path.
 */
function isUnknownPath({ status }: Response, body: Buffer): boolean {
  return status === 404 && (body.length === 0 || body.includes('"route_not_found"'));
}

function requestOf(incoming: IncomingMessage): Request {
  const { headers, rawHeaders, method = "GET", url = "/", socket } = incoming;
  const all = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    all.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  }
  // The Fetch standard forbids TRACE and TRACK. POST gets the same 405.
  const isForbidden = method === "TRACE" || method === "TRACK";
  const request = new Request("http://localhost", {
    method: isForbidden ? "POST" : method,
    headers: all,
  });
  // Sets the URL as it was sent. The constructor would resolve `..` in the path.
  const origin = `http${"encrypted" in socket ? "s" : ""}://${headers.host ?? "localhost"}`;
  Object.defineProperty(request, "url", { value: url.startsWith("/") ? origin + url : url });
  return request;
}
