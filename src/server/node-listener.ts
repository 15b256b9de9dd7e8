/** Adapts a fetch handler to `node:http` and Express. It does not open a socket. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { FetchHandler } from "../http/app.ts";

/** If `next` is given, as in Express, it is called when the path is unknown. */
export type NodeListener = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  next?: () => void,
) => void;

export function createNodeListener(respond: FetchHandler): NodeListener {
  return (incoming, outgoing, next) => {
    send(respond, incoming, outgoing, next).catch(() => outgoing.destroy());
  };
}

/** Reads the whole response body before sending the head, so nothing is sent if that fails. */
async function send(
  respond: FetchHandler,
  ...[incoming, outgoing, next]: Parameters<NodeListener>
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

/** For HEAD, an unknown user looks like an unknown path, but no other handler has that path. */
function isUnknownPath({ status }: Response, body: Buffer): boolean {
  return status === 404 && (body.length === 0 || body.includes('"route_not_found"'));
}

function requestOf(incoming: IncomingMessage): Request {
  const { headers, rawHeaders, method = "GET", url = "/", socket } = incoming;
  const all = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    all.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  }
  // The Fetch standard forbids TRACE and TRACK. They become POST, which gets the same 405 response.
  const isForbidden = method === "TRACE" || method === "TRACK";
  const request = new Request("http://localhost", {
    method: isForbidden ? "POST" : method,
    headers: all,
  });
  // Sets the URL exactly as it was sent, because the constructor would resolve `..` in the path.
  const origin = `http${"encrypted" in socket ? "s" : ""}://${headers.host ?? "localhost"}`;
  Object.defineProperty(request, "url", { value: url.startsWith("/") ? origin + url : url });
  // Only the admin port reads a body. A web stream would hold back a body that nobody reads.
  Object.defineProperty(request, "body", { value: incoming });
  return request;
}
