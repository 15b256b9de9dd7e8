/** Listens on Bun or Node, stops without losing a request, and adapts to `node:http` and Express. */
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import ipaddr from "ipaddr.js";
import { codeOf, reasonOf } from "../files/errors.ts";
import type { FetchHandler } from "../http/request-handler.ts";
import { toUrlHost } from "../http/url.ts";
import { type Certificate, CIPHERS } from "./certificate.ts";
import type { Stoppable } from "./shutdown.ts";

interface OpenPort {
  origin: string;
  /** Handles the requests sent so far, and closes each connection after its response. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

export interface Listener extends Pick<OpenPort, "origin" | "close">, Stoppable {}

interface ListenAddress {
  host: string;
  port: number;
  reusePort?: boolean;
  /** The prefix of the host and port flags, for errors that name these flags. */
  flagPrefix?: "--" | "--admin-" | undefined;
}

/** How many ticks to wait before closing connections. Each tick reads at most 1,024 connections. */
const DRAIN_TICKS = 5;
const DRAIN_TICK_MS = 20;

type Listen = (
  address: ListenAddress,
  respond: FetchHandler,
  tls?: Certificate,
) => Promise<OpenPort>;

/** If listening fails, rejects with an error whose message is for the operator. */
export async function openListener(
  address: ListenAddress,
  respond: FetchHandler,
  tls?: Certificate,
): Promise<Listener> {
  const listen = process.versions.bun ? listenOnBun : listenOnNode;
  const { origin, drain, close } = await listen(address, respond, tls).catch((error) => {
    throw listenError(error, address);
  });

  return {
    origin,
    close,
    async stop(isOver) {
      await Promise.race([drain(), isOver]);
      await close();
    },
  };
}

const listenOnBun: Listen = async ({ host, port, reusePort = false }, respond, tls) => {
  const options: Bun.Serve.Options<undefined> = {
    hostname: host,
    port,
    development: false,
    reusePort,
    // Large bodies are discarded. Bun's own 413 would lack the JSON body and most headers.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    fetch: (request, server) => respond(request, () => server.requestIP(request)?.address),
  };
  if (tls) options.tls = { ...tls, ciphers: CIPHERS };
  const server = Bun.serve(options);

  return {
    origin: server.url.origin,
    async drain() {
      // Closing now would reset connections whose requests have arrived but have not been read yet.
      for (let tick = 0; tick < DRAIN_TICKS; tick++) await sleep(DRAIN_TICK_MS);
      // `stop` also closes idle connections. Its promise is ignored, because it waits for
      // incomplete heads. A request is pending until its client has read the response.
      void server.stop();
      do await sleep(DRAIN_TICK_MS);
      while (server.pendingRequests > 0);
    },
    close: () => server.stop(true),
  };
};

const listenOnNode: Listen = async ({ host, port, reusePort = false }, respond, tls) => {
  const listener = createNodeListener(respond);
  const server = tls
    ? (await import("node:https")).createServer(tls, listener)
    : (await import("node:http")).createServer(listener);

  await once(server.listen({ host, port, reusePort }), "listening");
  const closed = once(server, "close");
  const { port: actualPort } = server.address() as AddressInfo;

  const scheme = tls ? "https" : "http";
  return {
    origin: `${scheme}://${toUrlHost(host)}:${actualPort}`,
    async drain() {
      server.close();
      // A connection becomes idle after its response.
      const timer = setInterval(() => server.closeIdleConnections(), DRAIN_TICK_MS);
      await closed;
      clearInterval(timer);
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
};

/** If `next` is given, as in Express, it is called when the path is unknown. */
export type NodeListener = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  next?: () => void,
) => void;

/** `isUnknownPath` says so of a request to which `respond` has responded. */
export function createNodeListener(
  respond: FetchHandler,
  isUnknownPath: (request: Request) => boolean = () => false,
): NodeListener {
  async function send(incoming: IncomingMessage, outgoing: ServerResponse, next?: () => void) {
    const request = requestOf(incoming);
    const response = await respond(request, () => incoming.socket.remoteAddress);
    if (next && isUnknownPath(request)) return next();

    // Reads the whole body before sending the head, so nothing is sent if that fails.
    const body = Buffer.from(await response.arrayBuffer());
    // Discards what the handler has left of the request's body.
    incoming.resume();
    outgoing.statusCode = response.status;
    outgoing.setHeaders(response.headers).end(body);
  }

  return (incoming, outgoing, next) => {
    send(incoming, outgoing, next).catch(() => outgoing.destroy());
  };
}

function requestOf(incoming: IncomingMessage): Request {
  const { headers, method: given = "GET", url = "/", socket } = incoming;
  // The Fetch standard forbids TRACE and TRACK. They become POST, which gets the same 405 response.
  const method = given === "TRACE" || given === "TRACK" ? "POST" : given;
  const init: RequestInit & { duplex: "half" } = {
    method,
    headers: Object.entries(headers).map(([name, value]): [string, string] => [name, `${value}`]),
    // The standard forbids a body of these, too.
    body: method === "GET" || method === "HEAD" ? null : bodyOf(incoming),
    duplex: "half",
  };
  const request = new Request("http://localhost", init);

  const origin = `http${"encrypted" in socket ? "s" : ""}://${headers.host ?? "localhost"}`;
  // Exactly as it was sent, because the constructor would resolve `..` in the path.
  const sent = url.startsWith("/") ? origin + url : url;
  return Object.defineProperty(request, "url", { value: sent });
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

function listenError(error: unknown, { host, port, flagPrefix }: ListenAddress): Error {
  const code = codeOf(error);
  const fail = (problem: string, flag: string) =>
    new Error(problem + (flagPrefix ? `; choose another with ${flagPrefix}${flag}` : ""));
  if (code === "EADDRINUSE") return fail(`port ${port} on ${host} is already in use`, "port");
  if (code === "EACCES" && port < 1024) {
    return fail(`port ${port} on ${host} needs root or CAP_NET_BIND_SERVICE`, "port");
  }
  if (code === "EADDRNOTAVAIL") return fail(`${host} is not an address of this machine`, "host");

  // Bun has no specific error code for a host name that cannot be resolved.
  const isResolved = ipaddr.isValid(host) || ["EACCES", "EMFILE"].includes(code);
  if (!isResolved) return fail(`cannot resolve host name ${host}`, "host");
  return new Error(`cannot listen on ${host} port ${port}: ${reasonOf(error)}`);
}
