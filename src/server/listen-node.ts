/**
 * Listens under Node, where test rigs run: turns requests of `node:http` into the platform's, and
 * responses back. No TLS and no draining; the server of the command is listen.ts.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Fetch } from "../http/app.ts";
import { type Address, listenError } from "./listen.ts";

/** A query of any length is read, as in the executable. */
const MAX_HEAD_BYTES = 262_144;

/** Rejects with an error whose message is for the operator. */
export async function listenOnNode(
  { host, port }: Address,
  respond: Fetch,
): Promise<{ origin: string; close(): Promise<void> }> {
  const server = createServer({ maxHeaderSize: MAX_HEAD_BYTES }, (incoming, outgoing) => {
    // A body is read past and kept nowhere.
    incoming.resume();
    send(incoming, outgoing, respond).catch(() => outgoing.destroy());
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(port, host, resolve);
  await promise.catch((error: unknown) => {
    throw listenError(error, { host, port });
  });
  const { port: actualPort } = server.address() as AddressInfo;
  return {
    origin: `http://${host.includes(":") ? `[${host}]` : host}:${actualPort}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The body is there before the head is written: one that fails is a connection without a response. */
async function send(incoming: IncomingMessage, outgoing: ServerResponse, respond: Fetch) {
  const response = await respond(requestOf(incoming), () => incoming.socket.remoteAddress);
  const body = new Uint8Array(await response.arrayBuffer());
  outgoing.writeHead(response.status, [...response.headers].flat());
  outgoing.end(body);
}

function requestOf({ headers, rawHeaders, method = "GET", url = "/" }: IncomingMessage): Request {
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
  const origin = `http://${headers.host ?? "localhost"}`;
  Object.defineProperty(request, "url", { value: url.startsWith("/") ? origin + url : url });
  return request;
}
