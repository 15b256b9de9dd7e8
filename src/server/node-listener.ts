/** Adapts a fetch handler to `node:http`. Express can use it, too, but never gets a request back. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { FetchHandler } from "../http/request.ts";

export type NodeListener = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

export function createNodeListener(handler: FetchHandler): NodeListener {
  async function send(incoming: IncomingMessage, outgoing: ServerResponse) {
    const left = new AbortController();
    outgoing.once("close", () => {
      if (!outgoing.writableFinished) left.abort();
    });
    const request = requestOf(incoming, left.signal);
    const response = await handler(request, () => incoming.socket.remoteAddress);

    // Reads the whole body before sending the head, so nothing is sent if that fails.
    const body = Buffer.from(await response.arrayBuffer());
    // Discards what the handler has left of the request's body.
    incoming.resume();
    outgoing.statusCode = response.status;
    outgoing.setHeaders(response.headers).end(body);
  }

  return (incoming, outgoing) => {
    send(incoming, outgoing).catch(() => outgoing.destroy());
  };
}

/** `signal` is aborted if the client leaves before it has its response. */
function requestOf(incoming: IncomingMessage, signal: AbortSignal): Request {
  const { headers, method: sentMethod = "GET", url = "/", socket } = incoming;
  // The Fetch standard forbids TRACE and TRACK. They become POST, which gets the same 405 response.
  const method = sentMethod === "TRACE" || sentMethod === "TRACK" ? "POST" : sentMethod;
  const init: RequestInit & { duplex: "half" } = {
    method,
    headers: Object.entries(headers).map(([name, value]): [string, string] => [name, `${value}`]),
    // The standard forbids a body of these, too.
    body: method === "GET" || method === "HEAD" ? null : bodyOf(incoming),
    duplex: "half",
    signal,
  };
  const request = new Request("http://localhost", init);

  const { host = "" } = headers;
  // Whatever follows the host in the header, such as a slash, would become a part of the path.
  const authority = URL.parse(`http://${host}`)?.host ?? "localhost";
  const origin = `http${"encrypted" in socket ? "s" : ""}://${authority}`;
  const sent = url.startsWith("/") ? origin + url : url;
  // As on Bun, `..` in the path is resolved. A target that is no URL stays, such as the `*` of OPTIONS.
  const resolved = URL.parse(sent)?.href ?? sent;
  return Object.defineProperty(request, "url", { value: resolved });
}

/**
 * The body as a stream that takes nothing from `incoming` until it is read, which only the admin port
 * does. `Readable.toWeb` would read ahead, and hold back the rest of a body that nobody reads.
 */
function bodyOf(incoming: IncomingMessage): ReadableStream {
  // If the handler stops early, its response can still be sent.
  const chunks = incoming.iterator({ destroyOnReturn: false });
  const source = {
    async pull(stream: ReadableStreamDefaultController) {
      const { done, value } = await chunks.next();
      if (done) stream.close();
      else stream.enqueue(value);
    },
    async cancel() {
      await chunks.return?.();
    },
  };
  return new ReadableStream(source, { highWaterMark: 0 });
}
