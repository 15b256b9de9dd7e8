/**
 * Listens on Bun or Node, stops without losing a request, and adds the headers that Bun omits: a date
 * for HEAD, and `connection: close` before it closes.
 */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import ipaddr from "ipaddr.js";
import { codeOf, reasonOf } from "../files/errors.ts";
import type { FetchHandler } from "../http/request.ts";
import { toUrlHost } from "./address.ts";
import type { Certificate } from "./certificate.ts";
import { createNodeListener } from "./node-listener.ts";
import { createRelay, LOOPBACK, type Relay } from "./relay.ts";

interface OpenPort {
  origin: string;
  /** Handles the requests sent so far, and closes each connection after its response. */
  drain(): Promise<void>;
  /** Closes all connections immediately. */
  close(): Promise<void>;
  /** Uses another certificate for new connections. Undefined without TLS. */
  renew?(tls: Certificate): void;
}

export interface PortOptions {
  host: string;
  port: number;
  reusePort?: boolean;
  /** In milliseconds, from 1,000 to 255,000. */
  idleTimeoutMs?: number;
  /** The prefix of the host and port flags, for errors that name these flags. */
  flagPrefix?: "--" | "--admin-" | undefined;
}

/** When to close connections that are idle. */
export const IDLE_TIMEOUT_MS = 10_000;
/** Longer than proxies usually keep connections to a server, so that it is the proxy that closes them. */
export const PROXIED_IDLE_TIMEOUT_MS = 130_000;

/** TLS 1.2 ciphers with forward secrecy and authenticated encryption, which TLS 1.3 always has. */
const CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20";

/** How many ticks to wait before closing connections. Bun reads at most 1,024 connections in each. */
const DRAIN_TICKS = 5;
const DRAIN_TICK_MS = 20;

type Listen = (options: PortOptions, handler: FetchHandler, tls?: Certificate) => Promise<OpenPort>;

/** If listening fails, rejects with an error whose message is for the operator. */
export async function openListener(
  options: PortOptions,
  handler: FetchHandler,
  tls?: Certificate,
): Promise<OpenPort & AsyncDisposable> {
  const listen = process.versions.bun ? listenOnBun : listenOnNode;
  const draining = new AbortController();
  const finish = addHeaders(handler, draining.signal);
  const open = await listen(options, finish, tls).catch((error) => {
    throw listenError(error, options);
  });
  const drain = async () => {
    draining.abort();
    await readArrived();
    await open.drain();
  };
  return { ...open, drain, [Symbol.asyncDispose]: open.close };
}

/** Once `draining` is aborted, all responses close their connections. */
function addHeaders(handler: FetchHandler, draining: AbortSignal): FetchHandler {
  return async (request, from) => {
    const response = await handler(request, from);
    if (request.method === "HEAD") response.headers.set("date", new Date().toUTCString());
    // Without it, a proxy may send another request over the closing connection.
    if (draining.aborted || asksToClose(request)) response.headers.set("connection", "close");
    return response;
  };
}

function asksToClose({ headers }: Request): boolean {
  const connection = headers.get("connection");
  return connection !== null && /(?:^|,)\s*close\s*(?:,|$)/i.test(connection);
}

const listenOnBun: Listen = async (options, handler, tls) => {
  if (tls) return listenWithTls(options, handler, tls);
  const server = serveOnBun(options, handler, (from) => from?.address);
  return {
    origin: server.url.origin,
    async drain() {
      // `stop` also closes idle connections. Its promise is ignored, because it waits for
      // incomplete heads. A request is pending until its client has read the response.
      void server.stop();
      do await sleep(DRAIN_TICK_MS);
      while (server.pendingRequests > 0);
    },
    close: () => server.stop(true),
  };
};

/** The server itself is on loopback, behind a relay. */
async function listenWithTls(options: PortOptions, handler: FetchHandler, tls: Certificate) {
  const inner = { ...options, host: LOOPBACK, port: 0, reusePort: false };
  const serve = (certificate: Certificate) =>
    serveOnBun(inner, handler, (from) => relay.addressOf(from?.port), certificate);
  const relay: Relay = createRelay(options, () => serve(tls));
  return {
    origin: originOf("https", options.host, relay.port),
    renew: (certificate: Certificate) => relay.replace(serve(certificate)),
    async drain() {
      void relay.stop(false);
      // A response that a server has just sent reaches the relay in the next tick.
      let idleTicks = 0;
      while (idleTicks < 2) {
        await sleep(DRAIN_TICK_MS);
        idleTicks = relay.isBusy() ? 0 : idleTicks + 1;
      }
    },
    close: () => relay.stop(true),
  };
}

function serveOnBun(
  { host, port, reusePort = false, idleTimeoutMs = IDLE_TIMEOUT_MS }: PortOptions,
  handler: FetchHandler,
  addressOf: (from: Bun.SocketAddress | null) => string | undefined,
  tls?: Certificate,
) {
  return Bun.serve({
    hostname: host,
    port,
    development: false,
    reusePort,
    idleTimeout: Math.ceil(idleTimeoutMs / 1000),
    // Large bodies are discarded. Bun's own 413 would lack the JSON body and most headers.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    fetch: (request, server) => handler(request, () => addressOf(server.requestIP(request))),
    ...(tls && { tls: { ...tls, ciphers: CIPHERS } }),
  });
}

const listenOnNode: Listen = async (options, handler, tls) => {
  const { host, port, reusePort = false, idleTimeoutMs = IDLE_TIMEOUT_MS } = options;
  const listener = createNodeListener(handler);
  const idle = { keepAliveTimeout: idleTimeoutMs };
  const secure =
    tls &&
    (await import("node:https")).createServer({ ...idle, ...tls, ciphers: CIPHERS }, listener);
  const server = secure ?? (await import("node:http")).createServer(idle, listener);

  await once(server.listen({ host, port, reusePort }), "listening");
  const closed = once(server, "close");
  const { port: actualPort } = server.address() as AddressInfo;

  return {
    origin: originOf(tls ? "https" : "http", host, actualPort),
    renew: (certificate) => secure?.setSecureContext({ ...certificate, ciphers: CIPHERS }),
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

function originOf(scheme: string, host: string, port: number): string {
  return `${scheme}://${toUrlHost(host)}:${port}`;
}

/** Lets a server read requests that have arrived, because closing would reset their connections. */
async function readArrived(): Promise<void> {
  for (let tick = 0; tick < DRAIN_TICKS; tick++) await sleep(DRAIN_TICK_MS);
}

function listenError(error: unknown, { host, port, flagPrefix }: PortOptions): Error {
  const code = codeOf(error);
  const errorOf = (problem: string, flag: string) =>
    new Error(problem + (flagPrefix ? `; choose another with ${flagPrefix}${flag}` : ""));
  if (code === "EADDRINUSE") return errorOf(`port ${port} on ${host} is already in use`, "port");
  if (code === "EACCES" && port < 1024) {
    return errorOf(`port ${port} on ${host} needs root or CAP_NET_BIND_SERVICE`, "port");
  }
  if (code === "EADDRNOTAVAIL") return errorOf(`${host} is not an address of this machine`, "host");

  // Bun has no specific error code for a host name that cannot be resolved.
  const isResolved = ipaddr.isValid(host) || ["EACCES", "EMFILE"].includes(code);
  if (!isResolved) return errorOf(`cannot resolve host name ${host}`, "host");
  return new Error(`cannot listen on ${host} port ${port}: ${reasonOf(error)}`);
}
