/**
 * Turns requests of `node:http` into the platform's, and responses back: a listener for Node's servers,
 * and a middleware for Express. Opens nothing.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { FetchHandler } from "../http/app.ts";

/** With `next`, as in Express, requests for unknown paths are passed on. */
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

/** The body is there before the head is written: one that fails is a connection without a response. */
async function send(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  respond: FetchHandler,
  next: (() => void) | undefined,
): Promise<void> {
  const response = await respond(requestOf(incoming), () => incoming.socket.remoteAddress);
  const body = Buffer.from(await response.arrayBuffer());
  if (next && isUnknownPath(response, body)) return next();
  // A request's body is read past and kept nowhere.
  incoming.resume();
  outgoing.statusCode = response.status;
  for (const [name, value] of response.headers) outgoing.setHeader(name, value);
  outgoing.end(body);
}

/**
 * The response to HEAD has no body that says what is missing. It may be a user, and is passed on all the
 * same: no other handler has such a path.
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
  // The Fetch standard has no request with TRACE; no method that changes something is served anyway.
  const isForbidden = method === "TRACE" || method === "TRACK";
  const request = new Request("http://localhost", {
    method: isForbidden ? "POST" : method,
    headers: all,
  });
  // As it was sent: the URL standard would resolve the dots of a path.
  const origin = `http${"encrypted" in socket ? "s" : ""}://${headers.host ?? "localhost"}`;
  Object.defineProperty(request, "url", { value: url.startsWith("/") ? origin + url : url });
  return request;
}
